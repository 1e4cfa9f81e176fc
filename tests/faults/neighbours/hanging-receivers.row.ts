import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { schemas } from '@quittance/contracts/service-name.ts';
import { messagingMigrations } from '@quittance/messaging/schema/service-schema.ts';
import { testBroker } from '@quittance/testkit/broker.ts';
import { testDatabase } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../../../services/webhook-dispatcher/src/migrations.ts';
import { startDispatcherProcess } from '../../benchmarks/support/webhook-dispatcher.ts';
import { payAndFollow, stagesOf, type Road } from '../../benchmarks/support/webhook-journeys.ts';
import { insertEvents, insertMerchants, makeMerchants, release } from '../../benchmarks/support/webhook-merchants.ts';
import { startWebhookPayer } from '../../benchmarks/support/webhook-payer.ts';
import { startWebhookReceiver } from '../../benchmarks/support/webhook-receiver.ts';
import type { LoneService } from '../../support/lone-service.ts';
import type { FaultContext } from '../fault.ts';
import type { Row } from './row.ts';

const RECEIVERS = 1_000;
const EVENTS_EACH = 50;
const HEALTHY = 20;
/** Even load on the healthy merchants: their latencies are from payments' commit until the receiver has the event. */
const PAYING = { aSecond: 50, durationMs: 30_000 };
const WARM_UP = { aSecond: 50, durationMs: 3_000 };
/** The healthy merchants' p99 beside the noise, and what a busy machine may add to a short one. */
const MOST_TIMES = 1.2;
const MOST_MORE_MS = 20;

export const row: Row = {
  name: 'hanging-receivers',
  about:
    '1,000 (or --runs) receivers that accept a request and never answer, with 50 events each, beside 20 healthy ones, in one ' +
    'dispatcher and in two: the healthy p99 is at most 1.2 times as long',
  before: 'a healthy event waited 30 to 41 s beside 300 of them (8 ms beside 60)',
  async run({ runs, say, onEnd }) {
    const road = await openRoad(onEnd);
    const measured: string[] = [];
    const broken: string[] = [];
    await payAndFollow(road, WARM_UP);
    for (const processes of [1, 2]) {
      if (processes === 2) await road.addDispatcher();
      const without = stagesOf((await payAndFollow(road, PAYING)).journeys).together;
      say(`  ${processes}: p50 ${without.p50.toFixed(1)} ms, p99 ${without.p99.toFixed(1)} ms without the noise`);
      await road.makeNoise(`noise${processes}-`, runs ?? RECEIVERS);
      // From the first moment on: most of the noise meets a dispatcher that knows none of its receivers.
      const { journeys } = await payAndFollow(road, PAYING);
      const beside = stagesOf(journeys).together;
      const memory = await road.memory();
      measured.push(
        `${processes} dispatcher(s): p99 ${without.p99.toFixed(1)} ms without, ${beside.p99.toFixed(1)} ms beside the noise ` +
          `(p50 ${without.p50.toFixed(1)} and ${beside.p50.toFixed(1)} ms); ${await road.inFlight()} attempts hang, ${memory} MB at most`,
      );
      say(`  ${measured.at(-1)}`);
      if (beside.p99 > Math.max(MOST_TIMES * without.p99, without.p99 + MOST_MORE_MS)) {
        broken.push(`the p99 of healthy events went from ${without.p99.toFixed(1)} to ${beside.p99.toFixed(1)} ms`);
      }
      await road.endNoise();
    }
    return { measured, broken };
  },
};

type NoisyRoad = Road & {
  addDispatcher(): Promise<void>;
  /** New merchants whose receivers hang, with events that are due at once. */
  makeNoise(label: string, receivers: number): Promise<void>;
  endNoise(): Promise<void>;
  inFlight(): Promise<number>;
  /** Of the largest dispatcher. */
  memory(): Promise<number>;
};

async function openRoad(onEnd: FaultContext['onEnd']): Promise<NoisyRoad> {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-neighbours-'));
  onEnd(() => rm(directory, { recursive: true, force: true }));
  const [database, payments, broker] = await Promise.all([
    testDatabase({ schema, migrations }),
    testDatabase({ schema: schemas.payments, migrations: [messagingMigrations] }),
    testBroker(),
  ]);
  onEnd(async () => {
    await Promise.all([database.drop(), payments.drop(), broker.close()]);
  });
  const db = new pg.Client({ connectionString: database.adminUrl, options: `-c search_path=${schema}` });
  await db.connect();
  onEnd(() => db.end());
  const healthy = makeMerchants(HEALTHY);
  await insertMerchants(db, healthy);
  const receiver = await startWebhookReceiver(directory);
  onEnd(() => receiver.close());
  const dispatchers: LoneService[] = [];
  async function addDispatcher(): Promise<void> {
    const started = await startDispatcherProcess({
      directory: join(directory, String(dispatchers.length)),
      ...{ receiver, databaseUrl: database.url, amqpUrl: broker.url },
    });
    dispatchers.push(started);
    onEnd(() => started.stop());
  }
  await addDispatcher();
  const merchantIds = healthy.map(({ merchantId }) => merchantId);
  const payer = await startWebhookPayer({ databaseUrl: payments.url, amqpUrl: broker.url, merchantIds });
  onEnd(() => payer.close());
  async function inFlight(): Promise<number> {
    const { rows } = await db.query<{ count: number }>(
      `select count(*)::int as count from delivery where lease_id is not null`,
    );
    return rows[0]?.count ?? 0;
  }
  return {
    ...{ db, payer, receiver, addDispatcher },
    async makeNoise(label, receivers) {
      const noisy = makeMerchants(receivers, label);
      await insertMerchants(db, noisy);
      for (const { host } of noisy) await receiver.answer(host, 'never');
      await insertEvents(db, noisy, receivers * EVENTS_EACH);
      await db.query('vacuum analyze event, delivery, lane');
      await release(db, noisy);
    },
    async endNoise() {
      await db.query(`update lane set held = true where merchant_id <> all($1)`, [merchantIds]);
      while ((await inFlight()) > 0) await delay(250);
      await db.query(`delete from delivery where merchant_id <> all($1)`, [merchantIds]);
    },
    inFlight,
    async memory() {
      const sizes = await Promise.all(
        dispatchers.map(async ({ pid }) =>
          Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0),
        ),
      );
      return Math.round(Math.max(...sizes) / 1024);
    },
  };
}
