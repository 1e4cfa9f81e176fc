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
import {
  payAndFollow,
  stagesOf,
  type Journey,
  type Road,
  type Stages,
} from '../../benchmarks/support/webhook-journeys.ts';
import { insertEvents, insertMerchants, makeMerchants } from '../../benchmarks/support/webhook-merchants.ts';
import { startWebhookPayer } from '../../benchmarks/support/webhook-payer.ts';
import { startWebhookReceiver } from '../../benchmarks/support/webhook-receiver.ts';
import type { LoneService } from '../../support/lone-service.ts';
import type { FaultContext } from '../fault.ts';
import type { Row } from './row.ts';

const RECEIVERS = 1_000;
const EVENTS_EACH = 50;
const HEALTHY = 20;
/** A steady load on the healthy merchants. Latencies are from payments' commit until the receiver has the event. */
const PAYING = { aSecond: 50, durationMs: 20_000 };
/** Alternates rounds without and with the noise, so that other load of the machine affects both. */
const ROUNDS = 3;
const WARM_UP = { aSecond: 50, durationMs: 3_000 };
/** How much longer the healthy merchants' p99 may be with the noise, with some allowance for a busy machine. */
const MOST_TIMES = 1.2;
const MOST_MORE_MS = 20;

export const row: Row = {
  name: 'hanging-receivers',
  about:
    '1,000 (or --runs) receivers that accept a request and never answer, with 50 events each, next to 20 healthy ones, in one ' +
    'dispatcher and in two: the healthy p99 is at most 1.2 times as long',
  before: 'a healthy event waited 30 to 41 s next to 300 of them (8 ms next to 60)',
  async run({ runs, say, onEnd }) {
    const road = await openRoad(onEnd);
    const measured: string[] = [];
    const broken: string[] = [];
    await payAndFollow(road, WARM_UP);
    for (const processes of [1, 2]) {
      if (processes === 2) await road.addDispatcher();
      await road.makeNoise(`noise${processes}-`, runs ?? RECEIVERS);
      const { without, beside, hang } = await inTurns(road, say);
      await road.endNoise();
      const [quiet, noisy] = [without.together.p99, beside.together.p99];
      measured.push(
        `${processes} dispatcher(s): ${describe(without)} without, ${describe(beside)} with the noise; ${hang} attempts hang, ` +
          `${await road.memory()} MB at most`,
      );
      say(`  ${measured.at(-1)}`);
      if (noisy > Math.max(MOST_TIMES * quiet, quiet + MOST_MORE_MS)) {
        broken.push(`the p99 of healthy events went from ${quiet.toFixed(1)} to ${noisy.toFixed(1)} ms`);
      }
    }
    return { measured, broken };
  },
};

const describe = ({ together, sent }: Stages): string =>
  `p50 ${together.p50.toFixed(1)} ms, p99 ${together.p99.toFixed(1)} ms (${sent.p99.toFixed(1)} ms of it after the event was stored)`;

/** In the first round with noise a dispatcher knows none of the receivers, in later ones some of them. */
async function inTurns(
  road: NoisyRoad,
  say: FaultContext['say'],
): Promise<{ without: Stages; beside: Stages; hang: number }> {
  const journeys = { without: [] as Journey[], beside: [] as Journey[] };
  let hang = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const without = (await payAndFollow(road, PAYING)).journeys;
    await road.releaseNoise();
    const beside = (await payAndFollow(road, PAYING)).journeys;
    hang = Math.max(hang, await road.inFlight());
    await road.holdNoise();
    journeys.without.push(...without);
    journeys.beside.push(...beside);
    say(`  round ${round}: ${describe(stagesOf(without))} without, ${describe(stagesOf(beside))} with the noise`);
  }
  return { without: stagesOf(journeys.without), beside: stagesOf(journeys.beside), hang };
}

type NoisyRoad = Road & {
  addDispatcher(): Promise<void>;
  /** Creates merchants whose receivers hang, with events that become due when released. */
  makeNoise(label: string, receivers: number): Promise<void>;
  releaseNoise(): Promise<void>;
  /** Waits until attempts hang. */
  holdNoise(): Promise<void>;
  /** Removes the held attempts. */
  endNoise(): Promise<void>;
  inFlight(): Promise<number>;
  /** Memory of the largest dispatcher. */
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
      for (const { host } of noisy) await receiver.ask('answer', host, 'never');
      await insertEvents(db, noisy, receivers * EVENTS_EACH);
      await db.query('vacuum analyze event, delivery, lane');
    },
    async releaseNoise() {
      await db.query(
        `update lane set held = false, next_due_at = coalesce(next_due_at, now()) where merchant_id <> all($1)`,
        [merchantIds],
      );
    },
    async holdNoise() {
      await db.query(`update lane set held = true where merchant_id <> all($1)`, [merchantIds]);
      while ((await inFlight()) > 0) await delay(250);
    },
    async endNoise() {
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
