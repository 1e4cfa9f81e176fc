import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { serviceSchemas } from '@quittance/postgres/roles/service-databases.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { findViolations } from '../../../services/payments/test/invariants.ts';
import { withDatabase } from '../../support/database.ts';
import { ownEnvironment } from '../../support/journey-stack.ts';
import type { Shop } from '../../support/shop.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { uncounted } from '../restore/judge.ts';
import { deadLetters } from '../rolling/judge.ts';
import { arrivedOn, disagreements, type Arrived } from './ledger.ts';
import type { Poison } from './message-faults.ts';
import { type PaidEvent, wrongParts, wrongPartsTold } from './parts.ts';
import type { Shops } from './shops.ts';
import type { World } from './world.ts';

/** Receivers that failed to the end leave events to be retried manually, and circuits that close later. */
const CONVERGE_MS = 240_000;

/**
 * After everything has healed: waits until all is settled, and compares rows, webhooks and the chain. @returns a line for each violation.
 */
export async function judge(
  world: World,
  shops: Shops,
  say: (line: string) => void,
  poison?: Poison,
): Promise<string[]> {
  const own = shops.orders.flatMap(({ payment }) => payment?.merchant_wallet ?? []);
  const wallets = [...new Set([...shops.all.map(({ wallet }) => wallet), ...own])];
  // Nothing is sent any more, and no block is replaced.
  const arrived = await arrivedOn(world.chain, wallets, sendersOf(shops));
  const unsettled = await settle(world, shops, arrived);
  say('  everything has settled');
  const payments = (await Promise.all(shops.all.map((shop) => allPayments(shop)))).flat();
  const { shared = [], alone = [] } = Object.groupBy(payments, ({ dedicated }) => (dedicated ? 'alone' : 'shared'));
  say(`  ${inParts(alone)}`);
  return [
    ...shops.wrong,
    ...unsettled,
    ...lostOrders(shops, payments),
    ...disagreements(shared, arrived),
    ...wrongParts(alone, arrived),
    ...(await unbalanced(world, wallets, arrived)),
    ...(await rowViolations(world, shops)),
    ...(await wrongCounts(world)),
    ...(await wrongEvents(world, payments, arrived)),
    ...(await deadLetters(world.stack, poison)),
    ...(await checkedByOps(world)),
  ];
}

/** So that a run without them does not look like a good one. */
function inParts(payments: readonly Payment[]): string {
  const paid = payments.filter(({ status }) => status === 'PAID');
  const bySeveral = paid.filter(({ transaction, received_amount: received }) => transaction?.amount !== received);
  const accepted = paid.filter(({ transaction }) => transaction?.accepted);
  return (
    `of ${payments.length} payments with an address of their own, ${paid.length} are PAID: ` +
    `${bySeveral.length} have several transfers, ${accepted.length} were accepted`
  );
}

/** The payment for which each transaction was sent, by transaction id. */
const sendersOf = ({ orders }: Shops): ReadonlyMap<string, string> =>
  new Map(
    orders.flatMap(({ payment, sent }) =>
      payment === null ? [] : sent.map((id) => [id, payment.payment_id] as const),
    ),
  );

/**
 * What is not finished, including transfers to closed payments, which need their confirmation. An event that PAID has overtaken ends as
 * failed, and is not sent any more.
 */
const leftOver = `
  select format('%s is %s', payment_id, status) as what from payments.payment where status in ('PENDING', 'CHECKING')
  union all select format('%s is PAID and has no event', payment_id) from payments.payment p
    where status = 'PAID' and not exists (select from webhooks.event e where e.payment_id = p.payment_id)
  union all select format('%s is %s', event_id, status) from webhooks.delivery join webhooks.event using (event_id)
    where status = 'pending' or status = 'failed' and event_type is null
  union all select format('%s waits in the outbox of %s', name, schema) from (
    select 'payments' as schema, name from payments.outbox union all select 'gateway', name from gateway.outbox
    union all select 'chain', name from chain.outbox union all select 'webhooks', name from webhooks.outbox
    union all select 'quota', name from quota.outbox) o
  union all select format('%s is not confirmed in the ledger', key) from unnest($1::text[]) key
    where not exists (select from payments.transfer where phase = 'confirmed'
      and transaction_id = split_part(key, '-', 1) and transaction_event_index = split_part(key, '-', 2)::int)`;

/** @returns what never finished. */
async function settle({ stack }: World, { all }: Shops, arrived: readonly Arrived[]): Promise<string[]> {
  const keys = arrived.map(({ key }) => key);
  const left = () =>
    withDatabase(stack.file.postgres_url, async (db) => (await db.query<{ what: string }>(leftOver, [keys])).rows);
  const byId = new Map(all.map((shop) => [shop.merchantId, shop]));
  const retryFailed = async () => {
    const failed = await withDatabase(stack.file.postgres_url, (db) =>
      db.query<{ event_id: string; merchant_id: string }>(
        `select event_id, e.merchant_id from webhooks.delivery d join webhooks.event e using (event_id)
          where d.status = 'failed' and e.event_type is null`,
      ),
    );
    for (const { event_id: id, merchant_id: merchant } of failed.rows)
      await byId.get(merchant)?.call('POST', `/merchant/webhook/events/${id}/retry`);
  };
  try {
    await eventually(
      async () => {
        await retryFailed();
        const rows = await left();
        if (rows.length > 0) throw new Error(`${rows.length} left`);
      },
      { timeoutMs: CONVERGE_MS, intervalMs: 1_000 },
    );
    return [];
  } catch {
    return (await left()).map(({ what }) => `after everything had healed, ${what}`);
  }
}

type Page = { payments: Payment[]; next_cursor: string | null };

async function allPayments(shop: Shop): Promise<Payment[]> {
  const payments: Payment[] = [];
  let next = '';
  for (;;) {
    const query = next;
    const { status, text, body } = await insist(() => shop.call<Page>('GET', `/payments/page?limit=100${query}`));
    if (status !== 200) throw new Error(`the payments of ${shop.merchantId}: ${status} ${text}`);
    payments.push(...body.payments);
    if (body.next_cursor === null) return payments;
    next = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
}

/** I5, I6: each answered order exists, and no others. */
function lostOrders({ orders }: Shops, payments: readonly Payment[]): string[] {
  const answered = new Set(orders.flatMap(({ payment }) => (payment === null ? [] : [payment.payment_id])));
  const there = new Set(payments.map(({ payment_id }) => payment_id));
  return [
    ...[...answered].filter((id) => !there.has(id)).map((id) => `${id} was answered 201 and does not exist`),
    ...[...there].filter((id) => !answered.has(id)).map((id) => `${id} exists, but was never answered`),
  ];
}

/** The ledger equals the transfers on the chain, to the last unit. */
async function unbalanced({ stack }: World, wallets: readonly string[], arrived: readonly Arrived[]) {
  const { rows } = await withDatabase(stack.file.postgres_url, (db) =>
    db.query<{ key: string; units: string }>(
      `select transaction_id || '-' || transaction_event_index as key, amount_units::text as units
         from payments.transfer where recipient = any($1) and phase <> 'retracted'`,
      [wallets],
    ),
  );
  const ledger = new Map(rows.map(({ key, units }) => [key, BigInt(units)]));
  const chain = new Map(arrived.map(({ key, units }) => [key, units]));
  const broken = [
    ...[...chain]
      .filter(([key, units]) => ledger.get(key) !== units)
      .map(([key]) => `${key} is missing or different in the ledger`),
    ...[...ledger.keys()].filter((key) => !chain.has(key)).map((key) => `${key} is in the ledger and not on the chain`),
  ];
  const sum = (units: Iterable<bigint>): bigint => [...units].reduce((total, one) => total + one, 0n);
  const [has, came] = [sum(ledger.values()), sum(chain.values())];
  return has === came ? broken : [...broken, `the ledger has ${has} units, and ${came} arrived`];
}

function rowViolations({ stack }: World, { orders }: Shops): Promise<string[]> {
  return withDatabase(stack.file.postgres_url, async (db) => {
    await db.query(`set search_path = ${serviceSchemas.payments.schema}`);
    const answered = orders.flatMap(({ shop: { merchantId }, idempotencyKey, text: body }) =>
      body === null ? [] : [{ merchantId, idempotencyKey, body }],
    );
    return findViolations(db, { answered, received: null, limitsStood: true });
  });
}

/** quota's message about a payment is the last one to arrive. It counts each payment once, however often the message comes. */
async function wrongCounts({ stack }: World): Promise<string[]> {
  const now = () => withDatabase(stack.file.postgres_url, uncounted);
  const settled = eventually(
    async () => {
      if ((await now()).length > 0) throw new Error('quota has not counted everything yet');
    },
    { intervalMs: 500 },
  );
  return settled.then(() => [], now);
}

type Received = {
  body: PaidEvent & { event_id: string; payment_id: string | null; status: string };
  raw_body: string;
} & {
  verified: boolean;
  problem: string | null;
};

/** I7: one PAID event for each paid payment, always with the same bytes, and none for others. */
async function wrongEvents(
  { stack }: World,
  payments: readonly Payment[],
  arrived: readonly Arrived[],
): Promise<string[]> {
  const { events } = (await (await fetch(stack.file.receiver.events_url)).json()) as { events: Received[] };
  const ours = new Map(payments.map((payment) => [payment.payment_id, payment]));
  const paid = events.filter(({ body }) => body.status === 'PAID' && ours.has(body.payment_id ?? ''));
  const broken = events
    // For the shop, the answer with this key was lost.
    .filter(({ verified, problem }) => !verified && problem !== 'unknown key id')
    .map(({ body, problem }) => `${body.event_id}: ${problem}`);
  const byPayment = Map.groupBy(paid, ({ body }) => body.payment_id!);
  for (const [id, got] of byPayment) {
    if (ours.get(id)?.status !== 'PAID') broken.push(`${id} was reported as PAID and is ${ours.get(id)?.status}`);
    const bodies = new Set(got.map(({ raw_body: bytes }) => bytes));
    if (bodies.size > 1)
      broken.push(`${id} was reported with ${bodies.size} different bodies: ${[...bodies].join(' ')}`);
  }
  for (const { payment_id: id, status } of payments)
    if (status === 'PAID' && !byPayment.has(id)) broken.push(`${id} is PAID and its shop was never notified`);
  const told = [...byPayment].map(([id, [event]]) => ({ payment: ours.get(id)!, event: event!.body }));
  return [...broken, ...wrongPartsTold(told, arrived)];
}

async function checkedByOps({ directory }: World): Promise<string[]> {
  const main = join(repositoryRoot, 'packages', 'ops', 'src', 'main.ts');
  const env = { ...ownEnvironment(), LOCAL_DIRECTORY: directory.root };
  const words = ['check', '--since', '2020-01-01T00:00:00Z'];
  try {
    await promisify(execFile)(process.execPath, [main, ...words], { env });
    return [];
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return [`ops check: ${stdout}${stderr}`];
  }
}
