import {
  AddApiKey,
  apiKeyScopes,
  FIRST_KEY,
  ListApiKeys,
  RevokeApiKey,
  type ApiKey,
} from '@quittance/contracts/http/api-gateway/api-keys.ts';
import {
  AddMerchantLogin,
  DisableMerchantLogin,
  LinkMerchantLogin,
  ListMerchantLogins,
  type MerchantLogin,
} from '@quittance/contracts/http/api-gateway/merchant-logins.ts';
import { anyText, choiceOf, needed, personName, word } from './field.ts';
import { aboutMerchant, merchant, merchantPage } from './access.ts';
import { callRow, ownRow } from './row.ts';
import { facts, table } from './view.ts';

const NAME_MAX = 60;
const keyName = (help: string) =>
  needed('--name <name>', anyText, help, {
    form: { label: 'What uses it; no two working keys have one name', input: 'text', max: NAME_MAX },
  });

export const keyRows = [
  callRow({
    command: 'merchant key add',
    call: AddApiKey,
    does: 'adds a further API key, shown once; twenty at most work at a time',
    more: 'All keys share the limits and counters of the merchant. One of the scope `read` is answered 401 for everything but `GET`.',
    fields: {
      merchant_id: merchant,
      name: keyName('what uses it; no two working keys have one name'),
      scope: choiceOf('--scope <scope>', apiKeyScopes, 'all, or read for what only reads', {
        byDefault: 'all',
        form: { label: 'What it may do', input: 'select', names: { all: 'everything', read: 'only read' } },
      }),
    },
    question: aboutMerchant('Add a further API key? It is shown once, on the next page.'),
    page: { ...merchantPage('add-key', 'Add an API key'), isSecret: true },
    view: (key) => [facts({ merchant: key.merchant_id, name: key.name, scope: key.scope, 'API key': key.api_key })],
  }),
  callRow({
    command: 'merchant key list',
    call: ListApiKeys,
    does: 'lists the keys that work, and those that were revoked last; never a key itself',
    fields: { merchant_id: merchant },
    view: ({ merchant_id: id, keys }) => [keysTable(id, keys)],
  }),
  callRow({
    command: 'merchant key revoke',
    call: RevokeApiKey,
    does: 'revokes a further API key: the next request with it is answered 401',
    more: 'The first key is the one from the registration: `merchant replace-credentials` and the rotation of the merchant replace it and no other.',
    asks: true,
    fields: { merchant_id: merchant, name: keyName('as key list shows it') },
    question: aboutMerchant('Revoke a further API key? It answers 401 from now on and cannot come back.'),
    page: merchantPage('revoke-key', 'Revoke an API key'),
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

export const linkLogin = ownRow({
  command: 'merchant login link',
  role: LinkMerchantLogin.access,
  audited: true,
  does: 'makes an address that signs the person in to the console once, within half an hour; shown once',
  fields: { merchant_id: merchant, name: listed },
});

export const loginRows = [
  callRow({
    command: 'merchant login add',
    call: AddMerchantLogin,
    does: 'gives a person an account with a credential that is shown once; brings a disabled one back with a new credential',
    more: 'Twenty at most work at a time. The audit names the person `@merchant/NAME`; the name is never given to somebody else of this merchant.',
    fields: { merchant_id: merchant, name: word('name', personName, 'as the audit of the merchant shows it') },
    view: ({ merchant_id: id, name, credential }) => [facts({ merchant: id, name, credential })],
  }),
  callRow({
    command: 'merchant login list',
    call: ListMerchantLogins,
    does: 'lists names, and when each credential was last used; those who were disabled last too',
    fields: { merchant_id: merchant },
    view: ({ logins }) => [
      table(null, logins, {
        name: 'name',
        created: 'created_at',
        'last used': 'last_used_at',
        disabled: 'disabled_at',
      }),
    ],
  }),
  linkLogin,
  callRow({
    command: 'merchant login disable',
    call: DisableMerchantLogin,
    does: 'ends sessions and links at once, and refuses the credential from now on',
    asks: true,
    fields: { merchant_id: merchant, name: listed },
    question: (values, services) => aboutMerchant(`Disable ${values.name}?`)(values, services),
    view: (login) => loginView(login),
  }),
];

const loginView = (login: MerchantLogin) => [
  facts({
    name: login.name,
    created: login.created_at,
    'last used': login.last_used_at,
    disabled: login.disabled_at,
  }),
];
