import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { countFailingLanes, countMisplacedAttempts, readBacklog, readWaitingLanes } from '../src/lanes/backlog.sql.ts';
import { lanesOf } from '../src/lanes/lane.sql.ts';
import { startStoreWorld, type StoreWorld } from './store-world.ts';

let world: StoreWorld;
beforeAll(async () => {
  world = await startStoreWorld();
});
beforeEach(() => world.empty());
afterAll(() => world.stop());

/** A merchant with events that have been due for this time. */
async function merchantWaiting(seconds: number, events = 1): Promise<string> {
  const merchantId = await world.addMerchant();
  for (let n = 0; n < events; n += 1) await world.addEvent(merchantId);
  await world.pool.query(
    `update delivery set next_attempt_at = now() - make_interval(secs => $2) where merchant_id = $1`,
    [merchantId, seconds],
  );
  return merchantId;
}

const changeLane = (merchantId: string, change: string) =>
  world.pool.query(`update lane set ${change} where merchant_id = $1`, [merchantId]);
const openCircuit = (merchantId: string) =>
  changeLane(
    merchantId,
    `failures = 50, failing_since = now() - interval '11 s', error_category = 'connect_refused', times_opened = 3,
     circuit_state = 'open', open_until = now() + interval '1 hour', next_due_at = now() + interval '1 hour'`,
  );
const pauseHost = (merchantId: string) => changeLane(merchantId, `next_due_at = now() + interval '1 hour'`);

const backlog = () => readBacklog(world.pool, { longest: 20 });
const nothing = { due: 0, oldestSeconds: 0, overdueLanes: 0, heldLanes: 0, openLanes: 0, longest: [] };

describe('the backlog', () => {
  test('is empty when nothing waits', async () => {
    expect(await backlog()).toEqual(nothing);
    await world.addMerchant();
    expect(await backlog()).toEqual(nothing);
  });

  test('counts due deliveries, and how long the oldest has been due', async () => {
    await merchantWaiting(90, 3);
    await merchantWaiting(5);
    const found = await backlog();
    expect(found).toMatchObject({ due: 4, overdueLanes: 1, heldLanes: 0, openLanes: 0 });
    expect(found.oldestSeconds).toBeGreaterThanOrEqual(90);
    expect(found.oldestSeconds).toBeLessThan(120);
  });

  test('leaves out leased deliveries and later ones', async () => {
    await merchantWaiting(90);
    expect(await world.claim()).toHaveLength(1);
    await merchantWaiting(-60);
    expect(await backlog()).toEqual(nothing);
  });

  test('counts lanes that wait on purpose separately', async () => {
    const [blocked, failing, unreachable] = [
      await merchantWaiting(900),
      await merchantWaiting(800, 2),
      await merchantWaiting(700),
    ];
    await changeLane(blocked, 'held = true');
    await openCircuit(failing);
    await pauseHost(unreachable);
    // Its pause has ended, but it has not been probed yet.
    const unprobed = await merchantWaiting(600);
    await openCircuit(unprobed);
    await changeLane(unprobed, `open_until = now(), next_due_at = now()`);
    // Without an endpoint there is nowhere to send.
    await world.addEvent(newId('mer'));
    expect(await backlog()).toEqual({
      ...nothing,
      heldLanes: 1,
      openLanes: 2,
      // Lanes of blocked accounts are not listed.
      longest: [
        { merchantId: failing, due: 2, oldestSeconds: expect.any(Number) },
        { merchantId: unreachable, due: 1, oldestSeconds: expect.any(Number) },
        { merchantId: unprobed, due: 1, oldestSeconds: expect.any(Number) },
      ],
    });
  });

  test('names only as many lanes as asked for, those that wait longest', async () => {
    const merchants = [];
    for (const seconds of [10, 40, 20, 30]) merchants.push(await merchantWaiting(seconds));
    const { longest, due } = await readBacklog(world.pool, { longest: 2 });
    expect(due).toBe(4);
    expect(longest.map(({ merchantId }) => merchantId)).toEqual([merchants[1], merchants[3]]);
    expect(longest[0]!.oldestSeconds).toBeGreaterThanOrEqual(40);
    expect(longest[0]!.oldestSeconds).toBeLessThan(70);
  });

  test('is only counted up to its limits', async () => {
    const [first, second] = [await merchantWaiting(20), await merchantWaiting(10)];
    const events = Array.from({ length: 20_050 }, () => newId('evt'));
    await world.pool.query(
      `with ids as (select id, case when n % 2 = 0 then $2 else $3 end as merchant_id
                      from unnest($1::text[]) with ordinality as e(id, n)),
            stored as (
         insert into event (event_id, payment_id, merchant_id, body) select id, id, merchant_id, '' from ids
         returning event_id, merchant_id
       )
       insert into delivery (event_id, merchant_id, next_attempt_at) select event_id, merchant_id, now() from stored`,
      [events, first, second],
    );
    expect(await backlog()).toMatchObject({
      due: 20_000,
      longest: [
        { merchantId: first, due: 1_000 },
        { merchantId: second, due: 1_000 },
      ],
    });
    expect((await readWaitingLanes(world.pool, { lanes: lanesOf(first) })).lanes).toMatchObject([{ due: 1_000 }]);
  });

  test('failing receivers are counted by error category while they are sent events', async () => {
    expect(await countFailingLanes(world.pool)).toEqual(new Map());
    const [refused, alsoRefused, late] = [
      await merchantWaiting(5),
      await merchantWaiting(-60),
      await merchantWaiting(5),
    ];
    for (const merchantId of [refused, alsoRefused]) await openCircuit(merchantId);
    await changeLane(late, `failures = 1, failing_since = now(), error_category = 'response_timeout'`);
    // It works again, but still has its last error category.
    await changeLane(await merchantWaiting(5), `error_category = 'tls_error'`);
    for (const change of ['held = true', 'next_due_at = null']) {
      const silent = await merchantWaiting(5);
      await openCircuit(silent);
      await changeLane(silent, change);
    }
    expect(await countFailingLanes(world.pool)).toEqual(
      new Map([
        ['connect_refused', 2],
        ['response_timeout', 1],
      ]),
    );
  });

  test('attempts outside all monthly partitions are counted', async () => {
    expect(await countMisplacedAttempts(world.pool)).toBe(0);
    await world.pool.query(
      `insert into attempt (event_id, lease_id, started_at, cycle, n, key_id, duration_ms)
       values ('evt_1', gen_random_uuid(), now() + interval '5 months', 1, 1, 'whk_1', 1)`,
    );
    expect(await countMisplacedAttempts(world.pool)).toBe(1);
  });

  test("such attempts are moved into their months as the operator's page says, and those without a partition stay", async () => {
    const { rows } = await world.pool.query<{ month: string }>(
      `select 'attempt_' || to_char((now() at time zone 'UTC') + interval '1 month', 'YYYYMM') as month`,
    );
    const { month } = rows[0]!;
    await world.pool.query(`drop table ${month}`);
    await world.pool.query(
      `insert into attempt (event_id, lease_id, started_at, cycle, n, key_id, duration_ms)
       select 'evt_' || n, gen_random_uuid(), now() + n * interval '1 month', 1, 1, 'whk_1', 1 from unnest('{1,5}'::int[]) n`,
    );
    expect(await countMisplacedAttempts(world.pool)).toBe(2);
    const page = await readFile(new URL('../../../docs/operator-tasks.md', import.meta.url), 'utf8');
    const recipe = /```sql\n(begin;[^`]*attempt_default[^`]*)```/.exec(page)![1]!;
    // The tests' role has a different name, but is the owner too.
    await world.pool.query(recipe.replace('set local role quittance_webhooks;', ''));
    expect((await world.pool.query(`select event_id from ${month}`)).rows).toEqual([{ event_id: 'evt_1' }]);
    expect((await world.pool.query('select event_id from attempt_default')).rows).toEqual([{ event_id: 'evt_5' }]);
  });
});

describe('waiting lanes', () => {
  const waiting = (held = false) => readWaitingLanes(world.pool, { held });

  test('come with the longest wait first, and with the reason', async () => {
    const unreachable = await merchantWaiting(100);
    const failing = await merchantWaiting(300, 2);
    const recovering = await merchantWaiting(200);
    await openCircuit(failing);
    await changeLane(recovering, `circuit_state = 'recovering', recovery_limit = 4, times_opened = 2`);
    await pauseHost(unreachable);
    await merchantWaiting(-60);
    const homeless = newId('mer');
    await world.addEvent(homeless);
    const circuit = { circuit_state: 'closed', open_until: null, times_opened: 0, recovery_limit: null };
    const working = { events: 'paid', held: false, failures: 0, failing_since: null, error_category: null, ...circuit };
    const healthy = { ...working, put_off_until: null, host: 'hooks.io', private_target: null, due: 1 };
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await waiting()).toEqual({
      total: 4,
      lanes: [
        {
          ...{ ...healthy, merchant_id: failing, due: 2, oldest_due_at: time, failures: 50, failing_since: time },
          ...{ error_category: 'connect_refused', circuit_state: 'open', open_until: time, times_opened: 3 },
          put_off_until: time,
        },
        {
          ...{ ...healthy, merchant_id: recovering, oldest_due_at: time },
          ...{ circuit_state: 'recovering', times_opened: 2, recovery_limit: 4 },
        },
        { ...healthy, merchant_id: unreachable, oldest_due_at: time, put_off_until: time },
        { ...healthy, merchant_id: homeless, oldest_due_at: time, host: null },
      ],
    });
  });

  test('of blocked accounts have their own list', async () => {
    const [blocked, other] = [await merchantWaiting(60), await merchantWaiting(60)];
    await changeLane(blocked, 'held = true');
    expect((await waiting()).lanes.map((lane) => lane.merchant_id)).toEqual([other]);
    expect((await waiting(true)).lanes).toMatchObject([{ merchant_id: blocked, held: true }]);
  });

  test("include open circuits with pending deliveries but none due, and a merchant's lanes that do not wait if it is asked for", async () => {
    const failing = await world.addMerchant();
    await openCircuit(failing);
    const emptied = await world.addMerchant();
    await openCircuit(emptied);
    await changeLane(emptied, 'next_due_at = null');
    const idle = await world.addMerchant();
    expect(await waiting()).toMatchObject({ total: 1, lanes: [{ merchant_id: failing, due: 0, oldest_due_at: null }] });
    expect((await readWaitingLanes(world.pool, { lanes: lanesOf(idle) })).lanes).toMatchObject([
      { merchant_id: idle, due: 0, put_off_until: null },
    ]);
    expect(await readWaitingLanes(world.pool, { lanes: lanesOf(newId('mer')) })).toEqual({ lanes: [], total: 0 });
  });

  test('are at most a hundred, with the total', async () => {
    await world.pool.query(
      `with ids as (select 'mer_' || n as id from generate_series(1, 103) n),
            events as (insert into event (event_id, payment_id, merchant_id, body) select id, id, id, '' from ids returning event_id),
            lanes as (insert into lane (merchant_id, next_due_at) select id, now() from ids)
       insert into delivery (event_id, merchant_id, next_attempt_at) select event_id, event_id, now() from events`,
    );
    const { lanes, total } = await waiting();
    expect([lanes.length, total]).toEqual([100, 103]);
  });
});
