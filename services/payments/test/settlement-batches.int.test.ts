import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { formatUnits } from '@quittance/contracts/amount.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { Busy } from '@quittance/messaging/consumer/handler.ts';
import { createOutbox, type Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import { migrations, schema } from '../src/migrations.ts';
import { createPaymentMessages, type PaymentMessages } from '../src/payment/outgoing-messages.ts';
import { observeTransfers, reviewTransfers } from '../src/settlement/settlement.ts';
import {
  chunksOf,
  MINUTE_MS,
  type Plan,
  type PlannedMessage,
  type PlannedPayment,
  planOf,
  randomFrom,
} from './batch-plans.ts';

/** Nothing listens there: sent messages stay in the outbox, where they can be read. */
const NO_BROKER = 'amqp://nobody:nobody@127.0.0.1:1/';
const DECIMALS = 6;

let database: TestDatabase;
let db: Pool;
let broker: ReturnType<typeof connectBroker>;
let outbox: Outbox;
let messages: PaymentMessages;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  const common = { logger: testLogger, metrics: testMetrics };
  db = testPool({ url: database.url, schema, max: 4 });
  broker = connectBroker({ ...common, url: NO_BROKER, name: 'payments' });
  outbox = createOutbox({ ...common, pool: db, broker, signer: null });
  messages = createPaymentMessages({ outbox, metrics: testMetrics });
});
afterAll(async () => {
  await outbox.close();
  await broker.close();
  await db.end();
  await database.drop();
});

type Outcome = {
  payments: { payment: number; status: string }[];
  transfers: {
    transfer: bigint;
    pays: number | null;
    related: number | null;
    candidates: number[] | null;
    phase: string;
    match_status: string;
    reason: string | null;
    notified: boolean;
  }[];
  sent: { name: string; payment: number; count: bigint }[];
  incidents: { payment: number }[];
};

let copies = 0;

/** Writes the plan's payments again, for another merchant and other wallets. */
async function copyOf({ payments }: Plan) {
  const copy = (copies += 1);
  const id = (kind: string, number: number): string => `${kind}${copy}x${number}`;
  const hex = (text: string): string => Buffer.from(text).toString('hex');
  const merchantId = `mer_${hex(id('m', 0)).padEnd(32, '0')}`;
  const walletOf = (wallet: number): string => `0x${hex(id('w', wallet)).padEnd(40, '0')}`;
  const idOf = (position: number): string => `pay_${hex(id('p', position)).padEnd(32, '0')}`;
  for (const [position, { wallet, units, digits = 0, createdAt, status }] of payments.entries()) {
    const amountUnits = BigInt(units * 10 ** DECIMALS + digits);
    await db.query(
      `insert into payment (payment_id, merchant_id, public_token, token_sha256, status, network, recipient, amount, amount_units,
                            description, created_at, expires_at, cancelled_at, expiry_check_at, requested_amount)
       values ($1, $2, $1, sha256(convert_to($1, 'UTF8')), $3, 'local', $4, $5, $6, 'Two', $7, $8, $9, $8, $10)`,
      [
        ...[idOf(position), merchantId, status, walletOf(wallet), formatUnits(amountUnits, DECIMALS), amountUnits],
        ...[new Date(createdAt), new Date(createdAt + 30 * MINUTE_MS)],
        status === 'CANCELLED' ? new Date(createdAt + 20 * MINUTE_MS) : null,
        digits > 0 ? String(units) : null,
      ],
    );
  }
  const toMessage = ({
    transfer,
    version,
    wallet,
    units,
    phase,
    blockTime,
    seenAt,
  }: PlannedMessage): TransferObserved => ({
    merchant_id: merchantId,
    network: 'local',
    transaction_id: hex(id('t', transfer)).padEnd(64, '0'),
    transaction_event_index: 0,
    block_number: 1 + transfer,
    block_hash: `0x${'0'.repeat(64)}`,
    block_timestamp: new Date(blockTime).toISOString(),
    from: walletOf(9),
    to: walletOf(wallet),
    amount_units: units,
    decimals: DECIMALS,
    phase,
    version,
    confirmations: 1,
    confirmations_required: 2,
    ...(seenAt !== undefined && { first_seen_at: new Date(seenAt).toISOString(), live: true }),
  });
  return {
    toMessage,
    observe: (chunk: readonly PlannedMessage[]) =>
      transaction(db, (tx) => observeTransfers({ tx, messages, logger: testLogger }, chunk.map(toMessage))),
    review: (chunk: readonly PlannedMessage[]) =>
      transaction(db, (tx) => reviewTransfers({ tx, messages, logger: testLogger }, chunk.map(toMessage))),
    /** The outcome for the transfers, in words that do not depend on the copy. */
    async outcome(): Promise<Outcome> {
      const numberOf = `array_position($2::text[], payment_id) - 1`;
      const ids = payments.map((_, position) => idOf(position));
      const read = async <T extends object>(sql: string): Promise<T[]> =>
        (await db.query<T>(sql, [merchantId, ids])).rows;
      return {
        payments: await read(`select ${numberOf} as payment, status from payment where merchant_id = $1 order by 1`),
        transfers: await read(
          `select block_number - 1 as transfer, version, phase, match_status, ${numberOf} as pays,
                  ${numberOf.replace('payment_id', 'related_payment_id')} as related, reason, notified,
                  (select array_agg(${numberOf.replace('payment_id', 'id')} order by place)
                     from unnest(candidates) with ordinality as c (id, place)) as candidates
             from transfer where merchant_id = $1 and $2::text[] is not null order by 1`,
        ),
        sent: await read(
          `select name, array_position($2::text[], body::json ->> 'payment_id') - 1 as payment, count(*)
             from outbox where merchant_id = $1 group by 1, 2 order by 1, 2`,
        ),
        incidents: await read(`select ${numberOf} as payment from incident where merchant_id = $1 order by 1`),
      };
    },
  };
}

const seeds = (): number[] =>
  Array.from({ length: amountOf({ short: 10, long: 500 }) }, (_, run) => seedOf(20_261_122) + run);

test.each(['observe', 'review'] as const)(
  'transfers settled together have the same outcome as one after the other: %s',
  async (how) => {
    let together = 0;
    for (const seed of seeds()) {
      const random = randomFrom(seed);
      const plan = planOf(random);
      // Two versions in one batch count once, and a reorganised transfer is settled after the others of its batch.
      const isAlone = ({ version, phase }: PlannedMessage): boolean => version > 1 && phase !== 'confirmed';
      const moves = (message: PlannedMessage): boolean =>
        plan.messages.some((other) => other.transfer === message.transfer && other.wallet !== message.wallet);
      const chunks = chunksOf(
        random,
        plan.messages,
        (batch, next) =>
          [...batch, next].some((one) => isAlone(one) || (one.version > 1 && moves(one))) ||
          batch.some(({ transfer }) => transfer === next.transfer),
      );
      const [batches, singles] = [await copyOf(plan), await copyOf(plan)];
      for (const chunk of chunks) await batches[how](chunk);
      for (const message of plan.messages) await singles[how]([message]);
      const outcome = await batches.outcome();
      expect({ seed, ...outcome }).toEqual({ seed, ...(await singles.outcome()) });
      together += chunks.filter(({ length }) => length > 3).length;
      expect(outcome.transfers).toHaveLength(30);
    }
    expect(together).toBeGreaterThan(seeds().length);
  },
);

test.each([
  {
    what: 'its amount, before its window, belongs to no payment',
    payments: [{ units: 1 }],
    other: { units: '1000000', minutesAgo: 100 },
    comesTo: { related: null, reason: null },
  },
  {
    what: 'its amount, in its window, is a duplicate of the transfer that has paid it',
    payments: [{ units: 1 }],
    other: { units: '1000000', minutesAgo: 4 },
    comesTo: { related: 0, reason: 'duplicate' },
  },
  {
    what: 'its price without the digits is meant for the other one, which still waits',
    payments: [
      { units: 1, digits: 1 },
      { units: 1, digits: 2 },
    ],
    other: { units: '1000000', minutesAgo: 4 },
    comesTo: { related: 1, reason: 'underpaid' },
  },
])('transfers that come together with the one that pays a payment: $what', async ({ payments, other, comesTo }) => {
  const now = Math.floor(Date.now() / 1000) * 1000;
  const at = (minutesAgo: number): number => now - minutesAgo * MINUTE_MS;
  const planned = payments.map((one): PlannedPayment => ({ ...one, wallet: 0, createdAt: at(10), status: 'PENDING' }));
  const first = 1_000_000 + (planned[0]?.digits ?? 0);
  const transfer = { version: 1, wallet: 0, phase: 'confirmed' } as const;
  const copy = await copyOf({ payments: planned, messages: [] });
  await copy.observe([
    { ...transfer, transfer: 0, units: String(first), blockTime: at(5) },
    { ...transfer, transfer: 1, units: other.units, blockTime: at(other.minutesAgo) },
  ]);
  expect((await copy.outcome()).transfers).toMatchObject([{ pays: 0 }, { pays: null, ...comesTo }]);
});

/** A waiting payment, and a transfer that pays it. */
async function payable() {
  const now = Math.floor(Date.now() / 1000) * 1000;
  const [createdAt, blockTime] = [now - 10 * MINUTE_MS, now - 5 * MINUTE_MS];
  const copy = await copyOf({ payments: [{ wallet: 0, units: 1, createdAt, status: 'PENDING' }], messages: [] });
  const paying: PlannedMessage = {
    transfer: 0,
    version: 2,
    wallet: 0,
    units: '1000000',
    phase: 'confirmed',
    blockTime,
  };
  return { copy, paying };
}

test('a transfer that another transaction adds for another wallet is decided about again, and pays once', async () => {
  const { copy, paying } = await payable();
  const [isAdded, mayCommit] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const elsewhere = copy.toMessage({ ...paying, version: 1, wallet: 1 });
  const adding = transaction(db, async (tx) => {
    await observeTransfers({ tx, messages, logger: testLogger }, [elsewhere]);
    isAdded.resolve(undefined);
    await mayCommit.promise;
  });
  await isAdded.promise;
  const settled = copy.observe([paying]).then(
    () => null,
    (error: unknown) => error,
  );
  await eventually(async () => {
    const { rowCount } = await db.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    expect(rowCount).toBe(1);
  });
  mayCommit.resolve(undefined);
  await adding;
  expect(await settled).toBeInstanceOf(Busy);
  expect((await copy.outcome()).payments).toEqual([{ payment: 0, status: 'PENDING' }]);
  await copy.observe([paying]);
  expect(await copy.outcome()).toMatchObject({
    payments: [{ payment: 0, status: 'PAID' }],
    transfers: [{ version: 2n, phase: 'confirmed', pays: 0 }],
    sent: [
      { name: 'PaymentClosed', count: 1n },
      { name: 'PaymentPaid', count: 1n },
    ],
  });
});

test('a transfer that is new to the ledger is written once, with what it pays', async () => {
  const { copy, paying } = await payable();
  const [before, after] = await transaction(db, async (tx) => {
    // Of this session, including what it has not reported yet.
    const countWrites = async () => {
      const { rows } = await tx.query<{ inserted: bigint; updated: bigint }>(
        `select n_tup_ins as inserted, n_tup_upd as updated from pg_stat_xact_user_tables where relname = 'transfer'`,
      );
      return rows[0]!;
    };
    const known = await countWrites();
    await observeTransfers({ tx, messages, logger: testLogger }, [copy.toMessage(paying)]);
    return [known, await countWrites()];
  });
  expect(after).toEqual({ inserted: before.inserted + 1n, updated: before.updated });
  expect((await copy.outcome()).transfers).toMatchObject([{ pays: 0 }]);
});

test('however transfers are put together, each payment has one transfer, and looking again changes nothing', async () => {
  for (const seed of seeds()) {
    const random = randomFrom(seed);
    const plan = planOf(random);
    const copy = await copyOf(plan);
    for (const chunk of chunksOf(random, plan.messages, () => false)) await copy.observe(chunk);
    const outcome = await copy.outcome();
    const { payments, transfers, sent } = outcome;
    for (const { payment, status } of payments) {
      const paying = transfers.filter(({ pays }) => pays === payment).map(({ phase }) => phase);
      const told = sent
        .filter((one) => one.payment === payment && one.name === 'PaymentPaid')
        .map(({ count }) => count);
      expect({ seed, payment, status, told }).toEqual({ seed, payment, status, told: status === 'PAID' ? [1n] : [] });
      expect({ seed, payment, status, paying: paying.length }).toEqual({
        ...{ seed, payment, status },
        paying: ['PAID', 'CHECKING'].includes(status) ? 1 : 0,
      });
      if (status === 'CHECKING') expect(paying).toEqual(['seen']);
    }
    const newest = new Map(plan.messages.map((message) => [message.transfer, message]));
    await copy.review([...newest.values()]);
    // But the reason why a transfer does not pay may have changed. And when all payments it may have been for are paid, it is decided
    // again, even one that was kept for a closed payment until it is confirmed.
    const isPaid = (payment: number | null): boolean =>
      payments.some((one) => one.payment === payment && one.status === 'PAID');
    const isOver = ({ related, candidates }: Outcome['transfers'][number]) => (candidates ?? [related]).every(isPaid);
    const over = new Set(transfers.filter(isOver).map(({ transfer }) => transfer));
    const comparable = ({ transfers: all, ...rest }: Outcome) => ({
      ...rest,
      transfers: all.map(({ reason: _, related, candidates, match_status, ...transfer }) =>
        over.has(transfer.transfer) ? transfer : { ...transfer, related, candidates, match_status },
      ),
    });
    expect({ seed, ...comparable(await copy.outcome()) }).toEqual({ seed, ...comparable(outcome) });
  }
});
