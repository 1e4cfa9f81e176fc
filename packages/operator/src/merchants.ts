import { type AccessPolicy, unlimited } from '@quittance/contracts/access.ts';
import * as accounts from '@quittance/contracts/http/api-gateway/merchants.ts';
import { type Merchant, SetProfile } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { changedFields, type AuditEntry, type WebhookAuditEntry } from '@quittance/contracts/http/audit.ts';
import type { Gate, OwnLimits } from '@quittance/contracts/http/payments/gate.ts';
import { ReadReport, reportGroups, reportTimes, type Report } from '@quittance/contracts/http/payments/reports.ts';
import { ReadUsage, type UsageDay } from '@quittance/contracts/http/quota.ts';
import * as access from './access.ts';
import { accessRows, merchant, numberForm, onMerchant } from './access.ts';
import { anyText, choiceOf, count, day, flag, merchantId, moment, needed, option, word } from './field.ts';
import { callRow, olderThan, ownRow } from './row.ts';
import { amount, badge, facts, table, tableIfAny, text, type Value, type View } from './view.ts';

const { CREATIONS_PER_MINUTE, CREATIONS_PER_MINUTE_MAX, MERCHANT_NAME_MAX } = accounts;

const beforeMerchant = option('--before <merchant>', merchantId, 'go on after this one, the last of the page before');
const nextMerchants = ({ merchants }: { merchants: readonly Merchant[] }) =>
  olderThan(merchants, ({ merchant_id: id }) => id);

export const createMerchant = callRow('merchant create', accounts.RegisterMerchant, {
  does: `register a merchant and show its credentials once. A beta has ${access.standardText}, unless you give others`,
  more:
    'Only hashes of the two credentials are stored. A legacy account needs a total. Do not do it again when the answer is lost: look for the ' +
    'merchant first.',
  waitSeconds: 15,
  fields: {
    name: needed('--name <name>', anyText, 'as operators see it', {
      form: { input: 'text', label: 'Name', max: MERCHANT_NAME_MAX },
    }),
    access: choiceOf('--access <type>', ['beta', 'legacy'], 'kind of access', {
      byDefault: 'beta',
      form: {
        input: 'select',
        names: { beta: 'beta, which ends after some days', legacy: 'legacy, without an end; it needs a total' },
      },
    }),
    ...access.limits,
    days: access.days,
    unlimited: flag('--unlimited', 'if you host Quittance for your own shop: active at once, no limits, no end', {
      conflicts: ['access', 'total', 'daily', 'days'],
      form: { input: 'check' },
    }),
  },
  page: { path: '/merchants/new', label: 'New merchant', back: '/merchants', isSecret: true },
  given: ({ name, access: type, unlimited: isForSelf, ...values }) => ({
    body: { name, ...(isForSelf ? unlimited : { access_type: type, ...access.betaOf(values) }) },
  }),
  view: (created) => credentialsView(created),
});

export const showMerchant = ownRow('merchant show', accounts.ReadMerchant.access, {
  does: 'show the account, its policy, and what payments enforces and has counted',
  more: 'The limits that apply are here; `merchant usage` has the history.',
  fields: { merchant_id: merchant },
});

export const auditMerchant = ownRow('merchant audit', accounts.ReadMerchantAudit.access, {
  does: 'show who changed the account, its policy, webhook, wallets and payments, when and why, newest first',
  more:
    'What the merchant did itself is there as `merchant`, what its people did as `@merchant/NAME`. A registration, a block and an unblock ' +
    'appear twice: when an operator did it, and as `api-gateway` when quota applied it to the policy.',
  fields: { merchant_id: merchant, before: option('--before <time>', moment, 'only what was done before this time') },
});

export const reportMerchant = callRow('merchant report', ReadReport, {
  does: 'count payments created, paid, expired and cancelled by UTC day or month and network, and add up what was paid',
  more:
    'Each is counted in the period in which it happened, as in `GET /api/v1/merchant/report`; at most 400 rows. With `--by chain` a payment ' +
    'counts on the day of its block, which is the earlier one after an outage.',
  fields: {
    merchant_id: merchant,
    from: needed('--from <day>', day, 'the first day'),
    to: needed('--to <day>', day, 'the last day, included'),
    group: choiceOf('--group <period>', reportGroups, 'what a row is about', { byDefault: 'day' }),
    by: choiceOf('--by <day>', reportTimes, 'which day a payment counts as paid on: of PAID, or of its block', {
      byDefault: 'payment',
    }),
    csv: flag('--csv', 'print CSV instead of a table'),
  },
  given: ({ merchant_id, from, to, group, by }) => ({ params: { merchant_id }, query: { from, to, group, by } }),
  view: (report) => reportView(report),
});

export const blockMerchant = callRow('merchant block', accounts.BlockMerchant, {
  does: 'lock the account: its API keys answer 401 and its webhooks are held; open payments are still watched and settled',
  waitSeconds: 15,
  asks: true,
  ...onMerchant('block', 'Block', { isDanger: true }),
  view: (account) => accountView(account),
});

export const unblockMerchant = callRow('merchant unblock', accounts.UnblockMerchant, {
  does: 'open a blocked account again',
  waitSeconds: 15,
  ...onMerchant('unblock', 'Unblock'),
  view: (account) => accountView(account),
});

export const merchantRows = [
  createMerchant,
  callRow('merchant list', accounts.ListMerchants, {
    does: 'list the newest hundred merchants',
    fields: { before: beforeMerchant },
    view: ({ merchants }) => merchantsView(merchants),
    next: nextMerchants,
  }),
  callRow('merchant find', accounts.ListMerchants, {
    does: 'find merchants by a part of their name or of the name that customers see, newest first, a hundred at most',
    fields: { name: word('text', anyText, 'a part of the name, in upper or lower case'), before: beforeMerchant },
    view: ({ merchants }) => merchantsView(merchants),
    next: nextMerchants,
  }),
  showMerchant,
  auditMerchant,
  callRow('merchant usage', ReadUsage, {
    does: 'show the payments created on each UTC day, newest first, without days that had none',
    more: 'It is a history with a short delay.',
    fields: {
      merchant_id: merchant,
      before: option('--before <day>', day, 'go on before this day, the last of the page before'),
    },
    view: ({ days: created }) => [usageTable(created)],
    next: ({ days: created }) => olderThan(created, ({ day: last }) => last),
  }),
  reportMerchant,
  callRow('merchant profile', SetProfile, {
    does: 'set the shop name that customers read on the checkout page; the merchant can set it itself with `PUT /merchant/profile`',
    fields: {
      merchant_id: merchant,
      display_name: option('--display-name <name>', anyText, '1 to 60 characters'),
      none: flag('--none', 'the page names no shop', { conflicts: ['displayName'] }),
    },
    missing: ({ display_name: name, none }) => (name === undefined && !none ? 'Give --display-name or --none.' : null),
    given: ({ merchant_id, display_name: name }) => ({ params: { merchant_id }, body: { display_name: name ?? null } }),
    view: ({ display_name: name }, { merchant_id: id }) => [facts({ merchant: id, 'display name': name })],
  }),
  callRow('merchant set-creation-rate', accounts.SetCreationRate, {
    does: `set how many creations a minute all customers of the merchant share, from the ${CREATIONS_PER_MINUTE} of the contract to ${CREATIONS_PER_MINUTE_MAX}`,
    more: 'For a shop where anybody can order, when its best day needs more. It holds for the next request. Left empty in the console, it is the number of the contract again.',
    ...onMerchant('set-creation-rate', 'Set creations a minute'),
    fields: {
      merchant_id: merchant,
      creations_per_minute: option('--per-minute <n>', count, `creations a minute, ${CREATIONS_PER_MINUTE} or more`, {
        form: numberForm(CREATIONS_PER_MINUTE_MAX),
      }),
      default: flag('--default', 'the number of the contract again', { conflicts: ['perMinute'] }),
    },
    missing: ({ creations_per_minute: rate, default: isDefault }) =>
      rate === undefined && !isDefault ? 'Give --per-minute or --default.' : null,
    given: ({ merchant_id, creations_per_minute: rate }) => ({
      params: { merchant_id },
      body: { creations_per_minute: rate ?? null },
    }),
    view: (account) => accountView(account),
  }),
  ...accessRows,
  blockMerchant,
  unblockMerchant,
  callRow('merchant replace-credentials', accounts.ReplaceCredentials, {
    does: 'give a new API key and rotation secret, shown once; account and history stay',
    more:
      'The old ones stop working immediately. Further API keys and logins do not: they are listed, and you end those that may be in wrong hands. ' +
      'Do not repeat the command when its answer is lost, unless you need new credentials once more.',
    asks: true,
    ...onMerchant('replace-credentials', 'Replace credentials', { isSecret: true, isDanger: true }),
    view: (replaced) => replacedView(replaced),
  }),
];

export const merchantsView = (merchants: readonly Merchant[]): View => [
  table(
    null,
    merchants,
    {
      name: 'name',
      'shown as': 'display_name',
      status: ({ status }) => badge(status),
      registered: 'created_at',
      'last request': 'last_request_at',
      merchant: 'merchant_id',
    },
    'No merchant was found. A new one is registered with its access and gets its credentials once.',
  ),
];

const rateOf = ({ creations_per_minute: rate }: Merchant) =>
  typeof rate === 'number' ? { 'creations a minute': String(rate) } : {};

const accountView = (account: Merchant): View => [
  facts({
    merchant: account.merchant_id,
    name: account.name,
    account: account.status,
    ...rateOf(account),
    registered: account.created_at,
    'last request': account.last_request_at,
  }),
];

const credentialsView = (created: accounts.Credentials): View => [
  facts({ merchant: created.merchant_id, 'API key': created.api_key, 'rotation secret': created.rotation_secret }),
];

/** With the keys and logins that still work: a thief of the old credentials may have them too. */
function replacedView({ still_working: still, ...replaced }: accounts.ReplacedCredentials): View {
  const view = credentialsView(replaced);
  if (still === undefined) return view;
  const { api_keys: keys, logins } = still;
  const id = replaced.merchant_id;
  if (keys.length + logins.length === 0)
    return [...view, text('No other API key and no login of this merchant works.')];
  return [
    ...view,
    ...(keys.length === 0
      ? []
      : [text(`These API keys still work. To end one: ops merchant key revoke ${id} --name NAME`)]),
    ...tableIfAny('API keys', keys, {
      name: 'name',
      scope: 'scope',
      created: 'created_at',
      actions: ({ name }) => ({ action: 'merchant key revoke', label: 'Revoke', values: { merchant_id: id, name } }),
    }),
    ...(logins.length === 0
      ? []
      : [text(`These people can still sign in. To end it: ops merchant login disable ${id} NAME`)]),
    ...tableIfAny('logins', logins, { name: 'name', created: 'created_at', 'last used': 'last_used_at' }),
  ];
}

/** What an operator wants to know first about a merchant. Each is null when its service does not know it yet, and absent when it did not answer. */
export type WholeMerchant = {
  merchant?: Merchant;
  policy?: AccessPolicy | null;
  gate?: Gate | null;
  limits?: OwnLimits | null;
};

export const wholeMerchantView = ({ merchant: account, policy, gate, limits: own }: WholeMerchant): View => [
  facts({
    ...(account === undefined
      ? policy?.account_active === false && { account: 'blocked' }
      : {
          merchant: account.merchant_id,
          name: account.name,
          ...(account.display_name !== null && { 'shown as': account.display_name }),
          account: `${account.status}, registered ${account.created_at.slice(0, 10)}`,
          ...rateOf(account),
          'last request': account.last_request_at ?? 'none yet',
        }),
    ...(policy === null && { access: 'quota does not know this merchant yet' }),
    ...(policy && access.accessFields(policy)),
    ...(gate === null && { enforced: 'payments does not know this merchant yet' }),
    ...(gate && {
      enforced: access.enforcedText(policy ?? null, gate),
      ...(gate.proven_wallets?.length && { 'proven wallets': gate.proven_wallets.join(', ') }),
      webhook: gate.webhook_ok ? 'configured' : 'not configured: creation answers 409 until it is',
    }),
    ...(own && access.usageFields(own)),
  }),
];

export const usageTable = (created: readonly UsageDay[], title: string | null = null) =>
  table(title, created, { 'day (UTC)': 'day', 'payments created': 'payments_created' });

type ReportLine = Report['totals'];

/** "149.70 EUR, 20 USD"; empty without any. */
export const pricesText = (prices: Record<string, string>): string =>
  Object.entries(prices)
    .map(([currency, amount]) => `${amount} ${currency}`)
    .toSorted()
    .join(', ');

export const reportView = ({ rows, totals }: Report, title: string | null = null): View => [
  table(title, rows.length === 0 ? [] : [...rows, { period: 'all', network: '', ...totals }], {
    period: 'period',
    network: 'network',
    created: 'created',
    paid: 'paid',
    'paid (USDT)': ({ paid_amount: paid }: ReportLine) => amount(paid, null),
    // Most merchants have prices in USDT only.
    ...(pricesText(totals.paid_prices) !== '' && { 'prices (paid)': (row: ReportLine) => pricesText(row.paid_prices) }),
    expired: 'expired',
    cancelled: 'cancelled',
  }),
];

type Line = { entry: AuditEntry | null; field: string | null; from: unknown; to: unknown };

/** One line for each field that changed; who, when and why are on the first line of an entry. */
export const auditTable = (entries: readonly AuditEntry[], title: string | null = null) =>
  table(title, entries.flatMap(linesOf), {
    when: ({ entry }: Line) => (entry === null ? '' : entry.at),
    who: ({ entry }) => (entry === null ? '' : entry.actor),
    // Some services write their words with a hyphen, some with an underscore.
    what: ({ entry }) => (entry === null ? '' : entry.action.replaceAll(/[_-]/g, ' ')),
    field: ({ field }) => field ?? '',
    before: ({ field, from }) => (field === null ? '' : valueOf(from)),
    after: ({ field, to }) => (field === null ? '' : valueOf(to)),
    why: ({ entry }) => (entry === null ? '' : entry.reason),
  });

function linesOf(entry: AuditEntry): Line[] {
  const [first = { field: null, from: null, to: null }, ...others] = changedFields(entry);
  return [{ entry, ...first }, ...others.map((line) => ({ entry: null, ...line }))];
}

/** What webhook-dispatcher writes down has no fields from before. */
export const auditOfWebhook = ({ event_id, events, private_target, ...entry }: WebhookAuditEntry): AuditEntry => ({
  ...entry,
  before: null,
  after:
    event_id !== null ? { event_id } : events.length > 0 ? { events, ...(private_target && { private_target }) } : null,
});

const valueOf = (value: unknown): Value =>
  value === null || typeof value === 'string' ? value : JSON.stringify(value);
