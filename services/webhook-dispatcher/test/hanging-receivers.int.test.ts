import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { systemClock } from '@quittance/runtime/time.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createBackPressure } from '../src/lanes/back-pressure.ts';
import { limits } from '../src/lanes/in-flight-limits.ts';
import { startDeliverLoop } from '../src/lanes/deliver.ts';
import type { AttemptResult } from '../src/sending/sender.ts';
import { startStoreWorld, type StoreWorld } from './store-world.ts';

let world: StoreWorld;
beforeAll(async () => {
  world = await startStoreWorld();
});
afterAll(() => world.stop());

const answered: AttemptResult = {
  ...{
    errorCategory: null,
    httpStatus: 200,
    retryAfterSeconds: null,
    durationMs: 1,
    isComplete: true,
    remoteAddress: null,
    errorCode: null,
  },
};

/** A dispatcher whose receivers under `hanging.io` answer only when released, and whose receivers under `silent.io` accept no connection. */
function startDispatcher({ slowAttemptMs = 50, slowLaneMs = 100 } = {}) {
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const common = { logger: testLogger, metrics };
  const pressure = createBackPressure({ ...common, clock: systemClock });
  let letGo = (): void => undefined;
  const untilLetGo = new Promise<void>((resolve) => (letGo = resolve));
  let hanging = 0;
  const startedAt = performance.now();
  const starts: number[] = [];
  async function unanswered(): Promise<AttemptResult> {
    const beganMs = pressure.runMs();
    while (pressure.runMs() - beganMs <= slowAttemptMs) await delay(5);
    return { ...answered, errorCategory: 'connect_timeout', httpStatus: null, isComplete: false };
  }
  const loop = startDeliverLoop({
    ...common,
    ...{
      pool: world.pool,
      vault: world.vault,
      pressure,
      retryDelaysSeconds: [0],
      stopping: new AbortController().signal,
    },
    // Few places, and a short time after which attempts are slow: nothing here waits for real seconds.
    limits: { ...limits, process: 64, slow: 16, unproven: 32, slowAttemptMs, slowLaneMs },
    sender: {
      async send({ url }) {
        if (url.includes('silent')) return unanswered();
        if (!url.includes('hanging')) return answered;
        hanging += 1;
        starts.push(performance.now() - startedAt);
        await untilLetGo;
        hanging -= 1;
        return answered;
      },
      close: () => Promise.resolve(),
    },
  });
  return {
    hanging: () => hanging,
    /** When attempts at receivers that hang started, in milliseconds since the start. */
    starts,
    wake: () => loop.wake(),
    async close() {
      letGo();
      await loop.close();
      pressure.close();
    },
  };
}

const countDelivered = async (merchantIds: readonly string[]): Promise<number> => {
  const { rows } = await world.pool.query<{ count: number }>(
    `select count(*)::int as count from delivery where status = 'delivered' and merchant_id = any($1)`,
    [merchantIds],
  );
  return rows[0]?.count ?? 0;
};

test.each([1, 2])(
  'with %i process(es), receivers that hang for ever, known and new ones, never keep the others waiting',
  async (processes) => {
    await world.empty();
    // One by one, so that none has to wait for a connection of the pool.
    const hanging: string[] = [];
    for (let n = 0; n < 60; n += 1) hanging.push(await world.addMerchant(`new${n}.hanging.io`, 'new'));
    for (let n = 0; n < 20; n += 1) hanging.push(await world.addMerchant(`old${n}.hanging.io`, 'slow'));
    for (const merchantId of hanging) for (let n = 0; n < 3; n += 1) await world.addEvent(merchantId);
    const dispatchers = Array.from({ length: processes }, startDispatcher);
    const dispatcher = (n: number) => dispatchers[n % processes]!;
    try {
      await eventually(() => expect(dispatcher(0).hanging()).toBeGreaterThanOrEqual(32));
      const healthy = [await world.addMerchant('known.io'), await world.addMerchant('another.io')];
      for (let n = 0; n < 50; n += 1) {
        for (const merchantId of healthy) await world.addEvent(merchantId);
        dispatcher(n).wake();
      }
      await eventually(async () => expect(await countDelivered(healthy)).toBe(100));
      expect(await countDelivered(hanging)).toBe(0);
      for (const { hanging, starts } of dispatchers) {
        expect(hanging()).toBeLessThanOrEqual(32);
        // One by one, except that one of each pace may start together.
        expect(starts.at(-1)).toBeGreaterThanOrEqual((starts.length - 2) * limits.unprovenEveryMs);
      }
    } finally {
      await Promise.all(dispatchers.map((each) => each.close()));
    }
  },
);

/** Waits until a statement waits for a lock. */
const untilBlocked = (): Promise<void> =>
  eventually(async () => {
    const { rowCount } = await world.pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rowCount === 0) throw new Error('no statement waits for a lock');
  });

// Their claims may take any time: there may be many receivers, or the machine may be busy.
test.each([
  { held: 'a claim of new lanes', pace: 'new', table: 'delivery', isSent: false },
  { held: 'the mark of a lane that has become slow', pace: 'quick', table: 'lane', isSent: true },
] as const)('events of quick lanes do not wait for $held', async ({ pace, table, isSent }) => {
  await world.empty();
  const merchantId = await world.addMerchant('one.hanging.io', pace);
  await world.addEvent(merchantId);
  const dispatchers: ReturnType<typeof startDispatcher>[] = [];
  const lock = await world.pool.connect();
  try {
    await lock.query('begin; set local idle_in_transaction_session_timeout = 0');
    if (isSent) {
      dispatchers.push(startDispatcher());
      await eventually(() => expect(dispatchers[0]!.hanging()).toBe(1));
    }
    await lock.query(`select from ${table} where merchant_id = $1 for update`, [merchantId]);
    if (!isSent) dispatchers.push(startDispatcher());
    await untilBlocked();
    const healthy = await world.addMerchant('known.io');
    for (let n = 1; n <= 5; n += 1) {
      await world.addEvent(healthy);
      dispatchers[0]!.wake();
      await eventually(async () => expect(await countDelivered([healthy])).toBe(n));
    }
    await untilBlocked();
    await lock.query('rollback');
    await eventually(() => expect(dispatchers[0]!.hanging()).toBe(1));
  } finally {
    lock.release();
    await Promise.all(dispatchers.map((each) => each.close()));
  }
});

test('a receiver without a connection is slow, although that takes less time than makes others slow', async () => {
  await world.empty();
  const merchantId = await world.addMerchant('one.silent.io', 'quick');
  await world.addEvent(merchantId);
  const dispatcher = startDispatcher({ slowLaneMs: 3_600_000 });
  try {
    await eventually(async () => {
      const { rows } = await world.pool.query('select pace from lane where merchant_id = $1', [merchantId]);
      expect(rows).toEqual([{ pace: 'slow' }]);
    });
  } finally {
    await dispatcher.close();
  }
});
