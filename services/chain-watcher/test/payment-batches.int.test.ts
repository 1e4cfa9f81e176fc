import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { PaymentClosed, PaymentCreated } from '@quittance/contracts/messages.ts';
import { PermanentError, type Handler } from '@quittance/messaging/consumer/handler.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { addressOf } from '@quittance/testkit/chain/samples.ts';
import { testDatabase, type TestDatabase, testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import { recordSpans } from '@quittance/testkit/spans.ts';
import { paymentClosed, paymentCreated } from '../src/watches/messages.ts';
import { migrations, schema } from '../src/migrations.ts';
import { planWatches } from '../src/watches/watch.sql.ts';
import { chanceOf, type Chance } from './random-run/chance.ts';

const settings = { watchGraceSeconds: 600 };
const WALLETS = [1, 2, 3, 4, 5, 6];
const at = (minute: number): string => new Date(Date.UTC(2100, 0, 1, 0, minute)).toISOString();
const bytesOf = (wallet: number): Buffer => Buffer.from(addressOf(wallet).slice(2), 'hex');

let database: TestDatabase;
let pool: Pool;
let spans: ReturnType<typeof recordSpans>;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 5 });
  spans = recordSpans();
});
afterAll(async () => {
  spans.stop();
  await pool.end();
  await database.drop();
});

type Message = { payload: PaymentCreated | PaymentClosed; traceparent: string };
/** `on`: its messages, of the same payments on another network each time. */
type Batch = { handler: Handler; on: (network: string) => Message[] };

function plannedBatch(chance: Chance): Batch {
  const payments = Array.from({ length: chance.between(2, 25) }, (_, index) => ({
    ...{ id: String(index), minute: chance.below(60), amount: String(chance.between(1, 4)) },
    shared: { merchant_id: `mer_${String(chance.below(5))}`, recipient: addressOf(chance.pick(WALLETS)) },
    traceparent: `00-${String(index + 1).padStart(32, '0')}-${'1'.repeat(16)}-0${chance.pick(['0', '1'])}`,
  }));
  const isClosing = chance.happens(0.4);
  return {
    handler: isClosing ? paymentClosed(settings) : paymentCreated(settings),
    on: (network) =>
      payments.map(({ id, minute, amount, shared, traceparent }) => {
        const common = { ...shared, payment_id: `${network} ${id}`, network };
        const payload: Message['payload'] = isClosing
          ? { ...common, status: 'EXPIRED', closed_at: at(minute + 10) }
          : { ...common, amount, created_at: at(minute), expires_at: at(minute + 10) };
        return { payload, traceparent };
      }),
  };
}

/** A wallet in each state that a leader may have brought it to; the others are not watched yet. */
async function seedWatches(network: string): Promise<void> {
  for (const [index, state] of ['new', 'watching', 'backfilling', 'ended'].entries()) {
    const [next, to] = state === 'backfilling' ? [5, 9] : [null, null];
    await pool.query(
      `insert into watch (network, address, merchant_id, watched_from, watched_until, state, backfill_next, backfill_to, ended_through)
       values ($1, $2, 'mer_0', $3, $4, $5, $6, $7, $8)`,
      [network, bytesOf(WALLETS[index]!), at(30), at(45), state, next, to, state === 'ended' ? at(46) : null],
    );
  }
}

const handle = (handler: Handler, messages: readonly Message[]): Promise<void> =>
  transaction(pool, (tx) =>
    handler.handle(
      messages.map((message) => ({ ...message, messageId: randomUUID(), requestId: 'request' })),
      { tx, logger: testLogger },
    ),
  );

/** What is kept of a network's payments, without its name. */
async function rowsOf(network: string) {
  const read = async (sql: string) => (await pool.query<Record<string, unknown>>(sql, [network])).rows;
  return {
    watches: await read(`select to_jsonb(watch) - 'network' as row from watch where network = $1 order by address`),
    unfinished: await read(
      `select split_part(payment_id, ' ', 3) as payment, created_at, closed_at is null as waits
         from unfinished_payment where network = $1 order by payment_id`,
    ),
    traces: await read(
      `select to_jsonb(traced_payment) - 'network' - 'received_at' as row
         from traced_payment where network = $1 order by address, amount_units`,
    ),
  };
}

test('payments that are handled together have the same result as one after the other', async () => {
  const first = seedOf(20_261_123);
  for (let seed = first; seed < first + amountOf({ short: 8, long: 1_000 }); seed += 1) {
    const chance = chanceOf(seed);
    const [together, singly] = [`together ${String(seed)}`, `singly ${String(seed)}`] as const;
    for (const network of [together, singly]) await seedWatches(network);
    for (let batch = 0; batch < 3; batch += 1) {
      const { handler, on } = plannedBatch(chance);
      await handle(handler, on(together));
      for (const message of on(singly)) await handle(handler, [message]);
    }
    expect({ seed, ...(await rowsOf(together)) }).toEqual({ seed, ...(await rowsOf(singly)) });
  }
  const { rows } = await pool.query('select count(*) from traced_payment');
  expect(Number(rows[0]?.count)).toBeGreaterThan(0);
});

/** A message for each of these wallets, which is watched from minute 10 to 30. */
async function onWatchedWallets(network: string, wallets: readonly number[]): Promise<Pick<Batch, 'on'>> {
  const messages = wallets.map((wallet): Message => {
    const common = {
      payment_id: `${network} ${String(wallet)}`,
      merchant_id: 'mer_1',
      network,
      recipient: addressOf(wallet),
    };
    return {
      payload: { ...common, amount: '1', status: 'EXPIRED', created_at: at(5), expires_at: at(40), closed_at: at(40) },
      traceparent: '',
    };
  });
  await handle(
    paymentCreated(settings),
    messages.map(({ payload, traceparent }) => ({
      payload: { ...payload, created_at: at(10), expires_at: at(20) },
      traceparent,
    })),
  );
  return { on: () => messages };
}

const locksInOrder: [
  string,
  (network: string, addresses: readonly string[], messages: Message[]) => Promise<unknown>,
][] = [
  ['PaymentCreated', (_network, _addresses, messages) => handle(paymentCreated(settings), messages)],
  ['PaymentClosed', (_network, _addresses, messages) => handle(paymentClosed(settings), messages)],
  [
    "the leader's plan",
    (network, addresses) => transaction(pool, (tx) => planWatches(tx, network, addresses, new Date(at(0)), null)),
  ],
];

test.each(locksInOrder)(
  '%s locks the lowest wallet first, in any order of messages, so that there is no deadlock',
  async (name, lock) => {
    const network = `in order: ${name}`;
    const wallets = [3, 2, 1];
    const { on } = await onWatchedWallets(network, wallets);
    const stranger = await pool.connect();
    const lockAsStranger = (wallet: number) =>
      stranger.query('select from watch where network = $1 and address = $2 for update nowait', [
        network,
        bytesOf(wallet),
      ]);
    try {
      await stranger.query('begin');
      await lockAsStranger(1);
      const waiting = lock(
        network,
        wallets.map((wallet) => addressOf(wallet)),
        on(network),
      );
      await eventually(async () => {
        const { rowCount } = await pool.query(
          'select from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()',
        );
        expect(rowCount).toBe(1);
      });
      for (const wallet of [2, 3]) await lockAsStranger(wallet);
      await stranger.query('rollback');
      await waiting;
    } finally {
      stranger.release();
    }
  },
);

test('a batch with a recipient that is not an address stores nothing, so that the message is handled alone', async () => {
  const { on } = plannedBatch(chanceOf('no address'));
  const [good, bad] = on('apart');
  for (const handler of [paymentCreated(settings), paymentClosed(settings)]) {
    const messages = [good!, { ...bad!, payload: { ...bad!.payload, recipient: 'nobody' } }];
    await expect(handle(handler, messages)).rejects.toThrow(PermanentError);
  }
  expect((await rowsOf('apart')).unfinished).toEqual([]);
});
