import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@quittance/local-backends/ports.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../support/database.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { Shop } from '../support/shop.ts';
import type { Fault, FaultResult } from './fault.ts';
import { startArchivedPostgres, type ArchivedPostgres } from './restore/archived-postgres.ts';
import { startLosableRabbitmq, type LosableRabbitmq } from './restore/losable-rabbitmq.ts';
import { countUnheard, countUnwatched, replayMessages, violations } from './restore/judge.ts';
import { order, pay, received, untilHeard, untilPaid, type Order } from './restore/ledger.ts';

/** Payments at each shop and stage; a merchant may create 30 a minute. */
const USUAL_RUNS = 5;
const SHOPS = 3;

type World = { postgres: ArchivedPostgres; rabbitmq: LosableRabbitmq; stack: JourneyStack; url: string };

/** The orders of each stage of the drill. */
type Orders = { early: Order[]; caught: Order[]; waiting: Order[]; unheard: Order[]; lost: Order[] };

export const fault: Fault = {
  name: 'restore',
  about:
    'the database and the broker lose all their data during operation; the database is restored to an earlier point in time, the broker comes ' +
    'back empty: everything committed by then exists, is paid and delivered to the merchants; docs/backup.md has the same steps',
  async run({ runs, say, onEnd }) {
    const world = await begin(onEnd);
    const shops = await Promise.all(Array.from({ length: SHOPS }, () => Shop.open(world.stack)));
    const { orders, pointInTime } = await untilLoss(world, shops, runs ?? USUAL_RUNS, say);
    const before = await received(orders.early.concat(orders.caught));

    const lostAt = performance.now();
    await Promise.all([world.postgres.lose(), world.rabbitmq.lose()]);
    await eachService(world.stack, null, (service) => service.stop());
    say('  database and broker are gone, the services are stopped');
    await Promise.all([world.postgres.restore(pointInTime), world.rabbitmq.startEmpty()]);
    const restoredMs = performance.now() - lostAt;
    const gone = { unheard: await countUnheard(world.url), unwatched: await countUnwatched(world.url) };
    const replayed = await replayMessages(world.url, '-infinity');
    await eachService(world.stack, null, (service) => service.start());
    const openMs = performance.now() - lostAt;
    say('  restored, everything replayed, the services are up');
    return await judge(world, { orders, before, gone, replayed, restoredMs, openMs, lostAt });
  },
};

async function begin(onEnd: (close: () => Promise<void>) => void): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-restore-'));
  onEnd(() => rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
  // If the tests run as root, PostgreSQL's own user has to pass through this folder.
  await chmod(directory, 0o711);
  await mkdir(join(directory, 'postgres'));
  const postgres = await startArchivedPostgres({
    directory: join(directory, 'postgres'),
    port: await freePort(),
    logFile: join(directory, 'postgres.log'),
  });
  onEnd(() => postgres.kill());
  const rabbitmq = await startLosableRabbitmq(join(directory, 'rabbitmq'));
  onEnd(() => rabbitmq.kill());
  const stack = await journeyStack({ settings: { POSTGRES_URL: postgres.url, AMQP_URL: rabbitmq.url } });
  onEnd(() => stack.close());
  return { postgres, rabbitmq, stack, url: stack.file.postgres_url };
}

/**
 * Everything up to the loss. Around the restored point in time some services are paused, so that messages about payments are only in the
 * broker. Otherwise the loss of a broker without a backup would have no effect.
 */
async function untilLoss(world: World, shops: Shop[], count: number, say: (line: string) => void) {
  const { stack, postgres, url } = world;
  const early = await order(shops, count, 100);
  await pay(early.slice(0, count));
  await Promise.all([postgres.copy(), order(shops, 1, 200).then((more) => early.push(...more))]);
  await pay(early.slice(count));
  await untilPaid(early);
  await untilHeard(early);
  say(`  ${early.length} payments were created, paid and notified, the data was copied meanwhile`);

  // Their wallets have never been watched.
  const newShops = [await Shop.open(stack), await Shop.open(stack)];
  await eachService(stack, 'webhook-dispatcher', (service) => service.stop());
  const unheard = await order(shops, count, 300);
  await pay(unheard);
  await untilPaid(unheard);
  await eachService(stack, 'chain-watcher', (service) => service.stop());
  const waiting = await order(newShops, 1, 400);
  const caught = await order(shops, count, 500);
  await outboxIsEmpty(url);
  const pointInTime = await now(url);
  say(
    `  the restored point in time: ${unheard.length} paid without a delivered event, ${waiting.length + caught.length} wait for money`,
  );

  await eachService(stack, 'chain-watcher', (service) => service.start());
  await eachService(stack, 'webhook-dispatcher', (service) => service.start());
  const lost = await order(shops, count, 600);
  await pay([...caught, ...lost]);
  await untilPaid([...caught, ...lost]);
  await untilHeard([...caught, ...lost]);
  await postgres.archiveAll();
  say(
    `  after it: ${caught.length} of these were paid and notified, and ${lost.length} more created, paid and notified`,
  );
  return { orders: { early, caught, waiting, unheard, lost }, pointInTime };
}

type Aftermath = {
  orders: Orders;
  /** Event ids that the shops had received before the loss, by payment. */
  before: Map<string, Set<string>>;
  /** Messages lost with the broker, counted before the replay. */
  gone: { unheard: number; unwatched: number };
  replayed: number;
  restoredMs: number;
  openMs: number;
  lostAt: number;
};

async function judge(world: World, after: Aftermath): Promise<FaultResult> {
  const { early, caught, waiting, unheard, lost } = after.orders;
  const known = [...early, ...caught, ...waiting, ...unheard];
  const paid = [...early, ...caught, ...unheard];
  const broken: string[] = [];
  if (after.gone.unheard !== unheard.length || after.gone.unwatched !== waiting.length)
    broken.push(`the drill proves nothing: the broker lost ${JSON.stringify(after.gone)}`);

  await pay(waiting);
  await settled([...paid, ...waiting]).catch((error: unknown) => broken.push(String(error)));
  const settledMs = performance.now() - after.lostAt;
  for (const { shop, payment, key, amount } of lost) {
    const answer = await shop.call('GET', `/payments/${payment.payment_id}/details`);
    if (answer.status !== 404)
      broken.push(`${payment.payment_id}, created after the restored point in time, answers ${answer.status}`);
    const again = await shop.create(amount, key);
    if (again.status !== 201 || again.body.payment_id === payment.payment_id)
      broken.push(`a lost creation, repeated with its key, answered ${again.status} ${again.text}`);
  }
  const events = await received(known);
  const twice = [...events.values()].filter((ids) => ids.size > 1).length;
  for (const { payment } of early) {
    if (events.get(payment.payment_id)?.size !== 1) broken.push(`${payment.payment_id} has a second event`);
  }
  broken.push(...(await violations(world.url, known)));
  if ((await countUnheard(world.url)) > 0) broken.push('a payment is PAID and has no event');
  return {
    broken,
    lines: [
      `${known.length} payments were known at the restored point in time, ${lost.length} came after it and are unknown now (404)`,
      `${after.replayed} messages were replayed; without them ${after.gone.unheard} paid payments would never have been reported, and ` +
        `${after.gone.unwatched} wallets never watched`,
      `${twice} payments got a second event with another id: those that were paid between the restored point in time and the loss`,
      `database and broker were back ${seconds(after.restoredMs)} after the loss, the API after ${seconds(after.openMs)}, everything settled after ` +
        seconds(settledMs),
    ],
  };
}

async function settled(orders: readonly Order[]): Promise<void> {
  await untilPaid(orders);
  await untilHeard(orders);
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Calls it for every process of a service, or of all. */
async function eachService(
  { services }: JourneyStack,
  name: ServiceName | null,
  act: (service: JourneyStack['services'][number]) => Promise<void>,
): Promise<void> {
  await Promise.all(services.filter((service) => name === null || service.name === name).map(act));
}

/** Every message has been published: it is in the broker or has been consumed. */
const outboxIsEmpty = (url: string): Promise<void> =>
  eventually(
    () =>
      withDatabase(url, async (db) => {
        const { rows } = await db.query<{ waiting: number }>('select count(*)::int as waiting from payments.outbox');
        if (rows[0]!.waiting > 0) throw new Error('payments has unsent messages');
      }),
    { intervalMs: 100 },
  );

const now = (url: string): Promise<string> =>
  withDatabase(
    url,
    async (db) => (await db.query<{ now: string }>('select clock_timestamp()::text as now')).rows[0]!.now,
  );
