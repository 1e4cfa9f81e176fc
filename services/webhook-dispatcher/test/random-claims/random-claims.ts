import { setTimeout as delay } from 'node:timers/promises';
import { transaction } from '@quittance/postgres/transaction.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { holdLane } from '../../src/lanes/lane.sql.ts';
import { settleAttempts } from '../../src/lanes/claim.sql.ts';
import { findDisorder, findViolations } from '../faults/invariants.ts';
import { outcome, type StoreWorld } from '../store-world.ts';
import { runClaimer } from './claimer.ts';
import { findLaneViolations } from './lane-rules.ts';
import { putEndpoint, runOthers } from './others.ts';
import { hosts, note, openScene, repeat, type Counts, type Scene } from './scene.ts';
import { LEASE_SECONDS, policy } from './times.ts';

/**
 * Claims and all other changes of lanes run concurrently, in random ways, while the lanes are checked all the time. Then all
 * receivers work again, and every pending delivery has to be delivered.
 */
export async function randomClaims(options: {
  world: StoreWorld;
  seed: number;
  durationMs: number;
}): Promise<{ broken: string[]; counts: Counts }> {
  const scene = await openScene(options.world, options.seed);
  const { world, broken, counts } = scene;
  await slowDown(world);
  const claimers = ['first claimer', 'second claimer', 'third claimer'];
  const all = [
    ...claimers.map((name) => runClaimer(scene, name)),
    ...runOthers(scene),
    repeat(scene, 'watcher', 20, () => look(scene)),
  ];
  await delay(options.durationMs);
  // Timing depends on the machine: a busy one takes longer until everything has happened.
  await eventually(() => untilAllHappened(counts)).catch(() => undefined);
  scene.isOver = true;
  await Promise.all(all);
  await look(scene);
  await judgeEvents(scene);

  await heal(scene);
  await eventually(() => deliverAll(scene), { timeoutMs: 60_000, intervalMs: 0 }).catch((error: unknown) =>
    note(scene, String(error)),
  );
  await judgeEvents(scene);
  return { broken: [...broken].slice(0, 20).map((line) => line.join(' ')), counts };
}

/** These need not happen. */
const unwanted = ['deadlocks', 'lockTimeouts'];

/** @throws while something has never happened. */
function untilAllHappened(counts: Counts): void {
  const missing = Object.entries(counts).filter(([name, times]) => times === 0 && !unwanted.includes(name));
  if (missing.length > 0) throw new Error(`no ${missing.map(([name]) => name).join(', ')} yet`);
}

/**
 * Delays some statements that change rows, before and after they run: so other statements often come between two of them, or
 * between their snapshot and their effect.
 */
async function slowDown({ pool }: StoreWorld): Promise<void> {
  await pool.query(
    `create function take_a_moment() returns trigger language plpgsql as $$
     begin
       perform pg_sleep(0.02 * power(random(), 6));
       return null;
     end
     $$`,
  );
  for (const table of ['lane', 'delivery']) {
    for (const when of ['before', 'after']) {
      await pool.query(
        `create trigger ${when}_change ${when} insert or update on ${table} for each statement execute function take_a_moment()`,
      );
    }
  }
}

async function judgeLanes(scene: Scene): Promise<void> {
  for (const { what, shown } of await findLaneViolations(scene.world.pool)) note(scene, what, shown);
  for (const line of await findDisorder(scene.world.pool)) note(scene, line);
}

async function judgeEvents(scene: Scene): Promise<void> {
  for (const line of await findViolations(scene.world.pool)) note(scene, line);
}

async function look(scene: Scene): Promise<void> {
  const { world, counts } = scene;
  await judgeLanes(scene);
  const { rows } = await world.pool.query<Record<'open' | 'recovering' | 'put_off' | 'superseded' | 'waiting', number>>(
    `select count(*) filter (where open_until > now())::int as open,
            count(*) filter (where circuit_state = 'recovering')::int as recovering,
            count(*) filter (where open_until is null and next_due_at > now()
                               and exists (select from delivery d where d.merchant_id = lane.merchant_id
                                              and d.status = 'pending' and d.next_attempt_at <= now()))::int as put_off,
            (select count(*)::int from delivery where error_category = 'superseded') as superseded,
            (select count(*)::int from event n join delivery nd using (event_id) join event p on p.payment_id = n.notice_payment_id
                                       join delivery pd on pd.event_id = p.event_id
              where nd.lease_id is not null and pd.lease_id is null and pd.next_attempt_at > now()) as waiting
       from lane`,
  );
  counts.looks += 1;
  counts.open += rows[0]!.open;
  counts.recovering += rows[0]!.recovering;
  counts.putOff += rows[0]!.put_off;
  counts.superseded += rows[0]!.superseded;
  counts.waiting += rows[0]!.waiting;
}

async function heal(scene: Scene): Promise<void> {
  const { world, merchants } = scene;
  // Newer than all messages before.
  const statusVersion = 2 ** 31 - 1;
  for (const merchantId of merchants) {
    await transaction(world.pool, (tx) => holdLane(tx, { merchantId, held: false, statusVersion }));
    // Lanes without an endpoint are not claimed.
    const { rowCount } = await world.pool.query(`select from endpoint where merchant_id = $1`, [merchantId]);
    if (rowCount === 0) await putEndpoint(scene, merchantId, hosts[0]);
  }
}

/** @throws until nothing is pending, and no lane is due. */
async function deliverAll(scene: Scene): Promise<void> {
  const { world } = scene;
  const claimed = await world.claim({ leaseSeconds: LEASE_SECONDS });
  await settleAttempts(
    world.pool,
    claimed.map((delivery) => outcome(delivery)),
    policy,
  );
  await judgeLanes(scene);
  const { rows } = await world.pool.query<{ pending: number; lanes: number }>(
    `select (select count(*)::int from delivery where status = 'pending') as pending,
            (select count(*)::int from lane where next_due_at is not null) as lanes`,
  );
  const { pending, lanes } = rows[0]!;
  if (pending + lanes > 0)
    throw new Error(`${pending} deliveries pend and ${lanes} lanes wait after all is well again`);
}
