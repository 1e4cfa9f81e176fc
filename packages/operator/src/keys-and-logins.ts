import {
  AddApiKey,
  apiKeyScopes,
  FIRST_KEY,
  ListApiKeys,
  RevokeApiKey,
  type ApiKey,
} from '@quittance/contracts/http/api-gateway/merchants.ts';
import {
  AddMerchantLogin,
  DisableMerchantLogin,
  LinkMerchantLogin,
  ListMerchantLogins,
  ResetMerchantPasskeys,
  SetMerchantLoginRole,
  signInLinkPath,
  type MerchantLogin,
} from '@quittance/contracts/http/api-gateway/people.ts';
import { merchantRoles } from '@quittance/contracts/principal.ts';
import { anyText, choiceOf, needed, PERSON_NAME_MAX, personName, word } from './field.ts';
import { merchant, onMerchant } from './access.ts';
import { callRow, ownRow } from './row.ts';
import { facts, table, type Value, text } from './view.ts';

const NAME_MAX = 60;
const keyName = (help: string) =>
  needed('--name <name>', anyText, help, {
    form: { input: 'text', label: 'Name', max: NAME_MAX },
  });

export const keyRows = [
  callRow('merchant key add', AddApiKey, {
    does: 'add a further API key, shown once; twenty at most work at a time',
    more: 'All keys share the limits and counters of the merchant. One of the scope `read` is answered 401 for everything but `GET`.',
    ...onMerchant('add-key', 'Add an API key', { isSecret: true }),
    fields: {
      merchant_id: merchant,
      name: keyName('what uses it; no two working keys have one name'),
      scope: choiceOf(
        '--scope <scope>',
        apiKeyScopes,
        'what it may do: all; orders to create, cancel and read payments and send events again; or read',
        {
          byDefault: 'all',
          form: {
            input: 'select',
            label: 'Scope',
            names: { all: 'everything', orders: 'payments and their events', read: 'only read' },
          },
        },
      ),
    },
    view: (key) => [facts({ merchant: key.merchant_id, name: key.name, scope: key.scope, 'API key': key.api_key })],
  }),
  callRow('merchant key list', ListApiKeys, {
    does: 'list the keys that work, and those that were revoked last; never a key itself',
    fields: { merchant_id: merchant },
    view: ({ merchant_id: id, keys }) => [keysTable(id, keys)],
  }),
  callRow('merchant key revoke', RevokeApiKey, {
    does: 'revoke a further API key: the next request with it is answered 401',
    more: 'It cannot come back. The first key is the one from the registration: `merchant replace-credentials` and the rotation of the merchant replace it and no other.',
    asks: true,
    ...onMerchant('revoke-key', 'Revoke an API key', { isDanger: true }),
    fields: { merchant_id: merchant, name: keyName('as key list shows it') },
    view: (key) => [facts({ name: key.name, scope: key.scope, created: key.created_at, revoked: key.revoked_at })],
  }),
];

/** The first key is replaced, never revoked; its date is that of the last time. */
export const keysTable = (merchantId: string, keys: readonly ApiKey[], title: string | null = null) =>
  table(title, keys, {
    name: 'name',
    scope: 'scope',
    created: 'created_at',
    revoked: 'revoked_at',
    actions: ({ name, revoked_at: revoked }) =>
      revoked !== null || name === FIRST_KEY
        ? null
        : { action: 'merchant key revoke', label: 'Revoke', values: { merchant_id: merchantId, name } },
  });

const listed = word('name', personName, 'as login list shows it');

const ofLogin = (action: string, label: string) => ({
  ...{ path: `/merchants/:merchant_id/logins/:name/${action}`, label, back: '/merchants/:merchant_id' },
});

export const linkLogin = ownRow('merchant login link', LinkMerchantLogin.access, {
  audited: true,
  does: 'make an address that signs the person in to the console once, within half an hour; shown once',
  fields: { merchant_id: merchant, name: listed },
  page: { ...ofLogin('sign-in-link', 'Make a sign-in link'), isSecret: true },
  subject: onMerchant('', '').subject,
});

const rolesHelp =
  'viewer looks, staff also creates and cancels payments and accepts transfers, owner also changes settings, keys, wallets and people';

export const loginRows = [
  callRow('merchant login add', AddMerchantLogin, {
    does: 'give a person an account with a credential that is shown once; bring a disabled one back with a new credential, and without the former passkeys',
    more: 'Twenty at most work at a time. The audit names the person @merchant/NAME; the name is never given to somebody else of this merchant.',
    ...onMerchant('add-login', 'Add a login', { isSecret: true }),
    fields: {
      merchant_id: merchant,
      name: {
        ...word('name', personName, 'as the audit of the merchant shows it'),
        form: { input: 'text', label: 'Name', max: PERSON_NAME_MAX },
      },
      role: choiceOf('--role <role>', merchantRoles, rolesHelp, {
        byDefault: 'viewer',
        form: { input: 'select', label: 'Role' },
      }),
    },
    view: ({ merchant_id: id, name, merchant_role: role, credential, link, ends_at: until }) => [
      facts({
        ...{ merchant: id, name, role, credential },
        ...(link !== undefined && { invitation: signInLinkPath(link), 'works until': until }),
      }),
    ],
  }),
  callRow('merchant login list', ListMerchantLogins, {
    does: 'list names, and when each credential was last used; those who were disabled last too',
    fields: { merchant_id: merchant },
    view: ({ merchant_id: id, logins }) => [loginsTable(id, logins)],
  }),
  linkLogin,
  callRow('merchant login role', SetMerchantLoginRole, {
    does: 'change what a person may do, in open sessions too',
    fields: {
      merchant_id: merchant,
      name: listed,
      role: choiceOf('--role <role>', merchantRoles, rolesHelp, { form: { input: 'select', label: 'Role' } }),
    },
    page: ofLogin('role', 'Change the role'),
    question: ({ name }) => `Change what ${name} may do, in open sessions too?`,
    subject: onMerchant('', '').subject,
    view: (login) => loginView(login),
  }),
  callRow('merchant login reset-passkeys', ResetMerchantPasskeys, {
    does: 'remove all passkeys of a person who has lost the device, and end the sessions',
    more: 'Be sure who asks. The person then signs in by a link and adds a new passkey.',
    asks: true,
    fields: { merchant_id: merchant, name: listed },
    page: { ...ofLogin('reset-passkeys', 'Remove the passkeys'), isDanger: true },
    question: ({ name }) => `Remove all passkeys of ${name}?`,
    subject: onMerchant('', '').subject,
    view: ({ removed }) => [text(`${removed} passkeys removed.`)],
  }),
  callRow('merchant login disable', DisableMerchantLogin, {
    does: 'end sessions and links at once, and refuse the credential from now on',
    asks: true,
    fields: { merchant_id: merchant, name: listed },
    page: { ...ofLogin('disable', 'Disable the login'), isDanger: true },
    question: ({ name }) => `Disable ${name}?`,
    subject: onMerchant('', '').subject,
    view: (login) => loginView(login),
  }),
];

export const loginsTable = (merchantId: string, logins: readonly MerchantLogin[], title: string | null = null) =>
  table(
    title,
    logins,
    {
      name: 'name',
      role: 'role',
      created: 'created_at',
      'last used': 'last_used_at',
      disabled: 'disabled_at',
      actions: ({ name, disabled_at: disabled }) =>
        disabled !== null ? null : loginActions({ merchant_id: merchantId, name }),
    },
    "No person of this merchant can sign in. A login sees the merchant's data and nothing else.",
  );

const loginActions = (values: Record<string, string>): Value => [
  { action: 'merchant login link', label: 'Sign-in link', values },
  ' ',
  { action: 'merchant login role', label: 'Change the role', values },
  ' ',
  { action: 'merchant login reset-passkeys', label: 'Remove the passkeys', values },
  ' ',
  { action: 'merchant login disable', label: 'Disable', values },
];

const loginView = (login: MerchantLogin) => [
  facts({
    name: login.name,
    role: login.role,
    created: login.created_at,
    'last used': login.last_used_at,
    disabled: login.disabled_at,
  }),
];
