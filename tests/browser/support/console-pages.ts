import { randomUUID } from 'node:crypto';
import { signInLinkPath } from '@quittance/contracts/http/api-gateway/people.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { insist } from '@quittance/testkit/insist.ts';
import type { Stack } from '@quittance/local-stack/stack/stack.ts';
import type { Page } from 'playwright-core';
import { withDatabase } from '../../support/database.ts';
import { asOperator } from '../../support/operator.ts';
import type { Shop } from '../../support/shop.ts';

/** Data for the console: one of each object, as a shop and its customers would have created it. */
export type ConsoleData = {
  merchant: string;
  wallet: string;
  /** Payment ids. */
  paid: string;
  waiting: string;
  underpaid: string;
  /** A transfer of 48.90 for a payment of 49.90. */
  lost: { transaction_id: string; transaction_event_index: number };
  /** A transfer of 5.50 that may be for either of two payments, of 5 and 6. */
  either: ConsoleData['lost'];
  twins: [string, string];
  failedEvent: string;
  paymentIncident: string;
  networkIncident: string;
};

type Pages = Record<string, (data: ConsoleData) => string>;

/** The page that accepts a transfer for a payment. */
export const acceptPath = (paymentId: string, transfer: ConsoleData['lost']): string =>
  `/payments/${paymentId}/accept?transaction_id=${transfer.transaction_id}&index=${transfer.transaction_event_index}`;

/** Every page of the operators. */
export const consolePages = {
  overview: () => '/',
  payments: () => '/payments',
  'payments-found-by-transaction': ({ lost }) => `/payments?q=${lost.transaction_id}`,
  'payment-paid': ({ paid }) => `/payments/${paid}`,
  'payment-underpaid': ({ underpaid }) => `/payments/${underpaid}`,
  'payment-cancel': ({ waiting }) => `/payments/${waiting}/cancel`,
  'payment-accept': ({ underpaid, lost }) => acceptPath(underpaid, lost),
  'payment-of-two': ({ twins }) => `/payments/${twins[0]}`,
  'payment-accept-of-two': ({ twins, either }) => acceptPath(twins[0], either),
  transfers: () => '/transfers',
  'transfer-choose-payment': ({ lost }) => `/transfers/${lost.transaction_id}/${lost.transaction_event_index}/accept`,
  'transfer-choose-of-two': ({ either }) =>
    `/transfers/${either.transaction_id}/${either.transaction_event_index}/accept`,
  merchants: () => '/merchants',
  'merchants-none-found': () => '/merchants?name=nothing',
  'merchant-new': () => '/merchants/new',
  merchant: ({ merchant }) => `/merchants/${merchant}`,
  'merchant-set-limits': ({ merchant }) => `/merchants/${merchant}/set-limits`,
  'merchant-replace-credentials': ({ merchant }) => `/merchants/${merchant}/replace-credentials`,
  'merchant-add-key': ({ merchant }) => `/merchants/${merchant}/add-key`,
  'merchant-add-login': ({ merchant }) => `/merchants/${merchant}/add-login`,
  'merchant-login-disable': ({ merchant }) => `/merchants/${merchant}/logins/anna/disable`,
  'merchant-transfers': ({ merchant }) => `/merchants/${merchant}/transfers`,
  wallets: () => '/wallets',
  'wallets-none-found': () => '/wallets?address=nothing',
  wallet: ({ wallet }) => `/wallets/${wallet}`,
  'wallet-release': ({ wallet }) => `/wallets/${wallet}/release`,
  webhooks: () => '/webhooks',
  'event-retry': ({ failedEvent }) => `/events/${failedEvent}/retry`,
  networks: () => '/networks',
  incidents: () => '/incidents',
  'incidents-all': () => '/incidents?status=all',
  'incident-of-payment': ({ paymentIncident }) => `/incidents/payment/${paymentIncident}`,
  'incident-of-network': ({ networkIncident }) => `/incidents/network/${networkIncident}`,
  'incident-resolve': ({ networkIncident }) => `/incidents/network/${networkIncident}/resolve`,
  runbooks: () => '/runbooks',
  runbook: () => '/runbooks/chain-watcher',
  operators: () => '/operators',
  'operator-new': () => '/operators/new',
  'operator-disable': () => '/operators/ada/disable',
  audit: () => '/audit',
  'not-found': () => '/payments/none',
} satisfies Pages as Pages;

/** Every page of a merchant's people. */
const merchantPages = {
  'my-payments': () => '/my/payments',
  'my-payments-found-by-transaction': ({ lost }) => `/my/payments?q=${lost.transaction_id}`,
  'my-payments-none-found': () => '/my/payments?q=nothing&status=CANCELLED',
  'my-payment-paid': ({ paid }) => `/my/payments/${paid}`,
  'my-payment-underpaid': ({ underpaid }) => `/my/payments/${underpaid}`,
  'my-payment-of-two': ({ twins }) => `/my/payments/${twins[0]}`,
  'my-transfers': () => '/my/transfers',
  'my-webhooks': () => '/my/webhooks',
  'my-limits': () => '/my/limits',
  'my-report': () => '/my/report',
  'my-report-by-month': () => '/my/report?from=2026-01-01&to=2026-12-31&group=month',
  'my-export-refused': () => '/my/export?from=2026-01-02&to=2026-01-01',
  'my-payment-not-found': () => '/my/payments/none',
} satisfies Pages as Pages;

/** Pages of an owner, whose passkey has shown who it is. */
export const ownerPages = [
  ...['/my', '/my/payments', '/my/new-payment', '/my/transfers', '/my/report', '/my/wallets', '/my/wallets/pool'],
  ...['/my/wallets/proof', '/my/wallets/rest', '/my/webhooks', '/my/webhooks/endpoint', '/my/notices', '/my/profile'],
  ...['/my/keys', '/my/team', '/my/limits', '/account'],
];

/** Every page, by its visitors. */
export const pagesOf = { operator: consolePages, merchant: merchantPages };

export type Visitor = keyof typeof pagesOf;

export const visitors = Object.keys(pagesOf) as Visitor[];

/** A refusal and a page that does not exist count too; a browser reports them on its console. */
export const expectedOfConsole = /status of (403|404|409|422)/;

/** Creates an admin, and a person of the merchant that owns the data. @returns their credentials. */
export async function welcomeVisitors(stack: Stack, { merchant }: ConsoleData): Promise<Record<Visitor, string>> {
  const { credential } = await merchantPersonCalled(stack, merchant, 'anna');
  return { operator: await operatorCalled(stack, 'ada', 'admin'), merchant: credential };
}

/** Creates an operator. @returns the credential. */
export const operatorCalled = async (stack: Stack, name: string, role: string): Promise<string> =>
  (await asOperator<{ credential: string }>(stack.file, 'POST', '/operators', { name, role })).credential;

/** Creates a person of a merchant. @returns the credential, and the target of a link that signs in once. */
export async function merchantPersonCalled(
  stack: Stack,
  merchantId: string,
  name: string,
): Promise<{ credential: string; linkPath: string }> {
  const logins = `/merchants/${merchantId}/logins`;
  const { credential } = await asOperator<{ credential: string }>(stack.file, 'POST', logins, { name });
  const { link } = await asOperator<{ link: string }>(stack.file, 'POST', `${logins}/${name}/sign-in-link`, {});
  return { credential, linkPath: signInLinkPath(link) };
}

/** Invites an owner of a merchant. @returns the target of the invitation. */
export async function ownerCalled(stack: Stack, merchantId: string, name: string): Promise<string> {
  const path = `/merchants/${merchantId}/logins`;
  const { link } = await asOperator<{ link: string }>(stack.file, 'POST', path, { name, role: 'owner' });
  return signInLinkPath(link);
}

/** Signs in through the page. */
export async function signIn(page: Page, stack: Stack, credential: string): Promise<void> {
  await page.goto(`${stack.file.console_url}/sign-in`);
  await page.getByLabel('Your credential').fill(credential);
  await page.getByRole('button', { name: 'Sign in with the credential' }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
}

/** Creates all of the data. What would take days is written directly into the database. */
export async function fillConsole(stack: Stack, shop: Shop): Promise<ConsoleData> {
  const paid = await shop.createOrThrow('10.50');
  await shop.pay('10.50');
  const underpaid = await orderOf(shop, 'order 4711', {
    description: 'Two tickets for the late performance, with a programme and a glass of something cold in the interval',
    return_url: 'https://shop.example/orders/4711',
    metadata: { customer: '4711', voucher: 'x'.repeat(60) },
  });
  const waiting = await shop.createOrThrow('12');
  const lost = await loseMoney(shop, underpaid.payment_id, '48.90');
  const { either, twins } = await payEither(shop);
  const failedEvent = await eventually(
    async () => {
      const [delivery] = await shop.deliveries(paid.payment_id);
      if (delivery?.status !== 'delivered') throw new Error('the webhook has not arrived yet');
      return delivery.event_id;
    },
    { intervalMs: 1_100 },
  );
  const incidents = await withDatabase(stack.file.postgres_url, async (db) => {
    await db.query(
      `update webhooks.delivery set status = 'failed', error_category = 'http_5xx', delivered_at = null where event_id = $1`,
      [failedEvent],
    );
    await db.query(
      `insert into payments.archived_day (merchant_id, network, day, created, paid, paid_units, expired, cancelled)
       select $1, 'local', day, 20 + n * 7 % 31, 15 + n * 5 % 19, (15 + n * 5 % 19) * 23450000, 2, 1
         from generate_series(1, extract(day from now() at time zone 'UTC')::integer - 1) n
        cross join lateral (select (date_trunc('month', now() at time zone 'UTC') + (n - 1) * interval '1 day')::date as day) d`,
      [shop.merchantId],
    );
    const ofPayment = await db.query<{ incident_id: string }>(
      `insert into payments.incident (kind, payment_id, merchant_id, network, transaction_id, transaction_event_index, block_hash, opened_at)
       values ('paid_transfer_gone', $1, $2, $3, $4, 0, $5, now()) returning incident_id`,
      [paid.payment_id, shop.merchantId, paid.network, 'ab'.repeat(32), `0x${'cd'.repeat(32)}`],
    );
    const ofNetwork = await db.query<{ incident_id: string }>(
      `insert into chain.incident (network, kind, cause, detail, last_seen_at)
       values ($1, 'transfer_missed', $2, $3, now()) returning incident_id`,
      [paid.network, randomUUID(), { block_number: 4711, endpoint: 1, transaction_id: 'ab'.repeat(32) }],
    );
    return [ofPayment, ofNetwork].map(({ rows }) => rows[0]?.incident_id ?? '');
  });
  return {
    ...{ merchant: shop.merchantId, wallet: shop.wallet, lost, either, twins, failedEvent },
    ...{ paid: paid.payment_id, waiting: waiting.payment_id, underpaid: underpaid.payment_id },
    ...{ paymentIncident: incidents[0] ?? '', networkIncident: incidents[1] ?? '' },
  };
}

/** A transfer whose amount is equally near to two open payments. */
export async function payEither(shop: Shop): Promise<Pick<ConsoleData, 'either' | 'twins'>> {
  const [less, more] = [await shop.createOrThrow('5'), await shop.createOrThrow('6')];
  const either = await loseMoney(shop, less.payment_id, '5.50');
  return { either, twins: [less.payment_id, more.payment_id] };
}

/** Creates a payment of 49.90. */
export async function orderOf(shop: Shop, order_id: string, more: Record<string, unknown> = {}): Promise<Payment> {
  const { status, text, body } = await insist(() => shop.order({ amount: '49.90', order_id, ...more }));
  if (status !== 201) throw new Error(`${order_id} answered ${status} ${text}`);
  return body;
}

/** Pays less than the payment asks for. @returns the transfer, once payments lists it as unmatched. */
export async function loseMoney(shop: Shop, paymentId: string, amount: string): Promise<ConsoleData['lost']> {
  const { transactionHash } = await shop.pay(amount);
  return eventually(
    async () => {
      const { unmatched_transfers: unmatched } = await shop.details(paymentId);
      const [lost] = unmatched.filter(({ transaction_id: id }) => transactionHash.endsWith(id));
      if (lost === undefined) throw new Error('the transfer has not been seen yet');
      return lost;
    },
    { intervalMs: 1_100 },
  );
}
