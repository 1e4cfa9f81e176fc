import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { createKeyVault } from '@quittance/runtime/key-vault.ts';
import { byMerchant } from '../src/endpoints/audit.sql.ts';
import { releaseDeliveries, type Claimed, settleAttempts } from '../src/lanes/claim.sql.ts';
import { replaceKey, saveEndpoint } from '../src/endpoints/endpoint.sql.ts';
import { giveUpDeliveries } from '../src/lanes/backlog.sql.ts';
import { holdLane, openLaneCircuits } from '../src/lanes/lane.sql.ts';
import { startCycle } from '../src/events/retry.sql.ts';
import { failure, outcome, left, startStoreWorld, type StoreWorld } from './store-world.ts';

let world: StoreWorld;
beforeAll(async () => {
  world = await startStoreWorld();
});
beforeEach(() => world.empty());
afterAll(() => world.stop());

/** Opens after four failures, at any age. */
const policy = { openAfter: 4, openAfterSeconds: 0, longestOpenSeconds: 60, recoveredAt: 8 };

const fail = (claimed: readonly Claimed[], over: Parameters<typeof outcome>[1] = {}) =>
  settleAttempts(
    world.pool,
    claimed.map((c) => outcome(c, { ...failure, retry_delay_seconds: 0, ...over })),
    policy,
  );
const succeed = (claimed: readonly Claimed[]) =>
  settleAttempts(
    world.pool,
    claimed.map((c) => outcome(c)),
    policy,
  );

async function laneOf(merchantId: string) {
  const { rows } = await world.pool.query<Record<string, unknown>>(
    `select failures, circuit_state, times_opened, recovery_limit, error_category,
            ceil(extract(epoch from open_until - now()))::int as open_for,
            ceil(extract(epoch from next_due_at - now()))::int as due_in
       from lane where merchant_id = $1`,
    [merchantId],
  );
  return rows[0];
}

/** Ends the pause of an open circuit, or the lease of a probe. */
const endPause = (merchantId: string) =>
  world.pool.query(
    `update lane set open_until = case when open_until is not null then least(open_until, now()) end,
                     next_due_at = least(next_due_at, now())
      where merchant_id = $1`,
    [merchantId],
  );

/** A lane whose circuit is open for this many seconds from now. */
const openFor = (seconds: number) => ({ circuit_state: 'open', open_for: left(seconds), due_in: left(seconds) });

/** Extends the pause of an open circuit, so that it does not end during the rest of a slow test. */
const keepOpen = (merchantId: string) =>
  world.pool.query(
    `update lane set open_until = open_until + interval '1 hour', next_due_at = next_due_at + interval '1 hour'
      where merchant_id = $1 and circuit_state = 'open'`,
    [merchantId],
  );

/** A merchant with events, whose lane's circuit is open for the first time. */
async function openLane({ events = 30 } = {}) {
  const merchantId = await world.addMerchant();
  const eventIds: string[] = [];
  for (let n = 0; n < events; n += 1) eventIds.push(await world.addEvent(merchantId));
  await fail(await world.claim({ perLane: 3 }));
  await fail(await world.claim({ perLane: 1 }));
  expect(await laneOf(merchantId)).toMatchObject({ failures: 4, times_opened: 1, ...openFor(1) });
  return { merchantId, eventIds };
}

describe('the circuit of a lane whose receiver keeps failing', () => {
  test("opens, and the lane's other events use no attempts", async () => {
    const { merchantId } = await openLane();
    expect(await laneOf(merchantId)).toMatchObject({ ...openFor(1), recovery_limit: null, error_category: 'http_5xx' });
    await keepOpen(merchantId);
    expect(await world.claim()).toEqual([]);
    const { rows } = await world.pool.query(`select sum(attempts)::int as attempts from delivery`);
    expect(rows).toEqual([{ attempts: 4 }]);
  });

  test('stays closed if all failures came within a few seconds', async () => {
    const merchantId = await world.addMerchant();
    for (let n = 0; n < 8; n += 1) await world.addEvent(merchantId);
    const patient = { ...policy, openAfterSeconds: 3_600 };
    const failed = async () => {
      const outcomes = (await world.claim()).map((c) => outcome(c, { ...failure, retry_delay_seconds: 0 }));
      await settleAttempts(world.pool, outcomes, patient);
    };
    await failed();
    await failed();
    expect(await laneOf(merchantId)).toMatchObject({ failures: 16, circuit_state: 'closed', open_for: null });
    await world.pool.query(`update lane set failing_since = now() - interval '3601 seconds'`);
    await failed();
    expect(await laneOf(merchantId)).toMatchObject({ failures: 24, ...openFor(1) });
  });

  test('opens immediately when ten times as many attempts fail', async () => {
    const merchantId = await world.addMerchant();
    for (let n = 0; n < 40; n += 1) await world.addEvent(merchantId);
    const quick = (await world.claim({ perLane: 40 })).map((c) => outcome(c, { ...failure, retry_delay_seconds: 60 }));
    const patient = { ...policy, openAfterSeconds: 3_600 };
    await settleAttempts(world.pool, quick.slice(0, 39), patient);
    expect(await laneOf(merchantId)).toMatchObject({ failures: 39, circuit_state: 'closed', open_for: null });
    await settleAttempts(world.pool, quick.slice(39), patient);
    expect(await laneOf(merchantId)).toMatchObject({ failures: 40, ...openFor(1) });
  });

  test('stays closed while some attempts succeed', async () => {
    const merchantId = await world.addMerchant();
    for (let n = 0; n < 8; n += 1) await world.addEvent(merchantId);
    for (let round = 0; round < 3; round += 1) {
      const claimed = await world.claim();
      await fail(claimed.slice(1));
      await succeed(claimed.slice(0, 1));
      expect(await laneOf(merchantId)).toMatchObject({ failures: 0, circuit_state: 'closed', open_for: null });
    }
  });

  test('is probed with one event, by one process, and opens for twice as long when the probe fails', async () => {
    const { merchantId } = await openLane();
    for (const rest of [2, 4, 8, 16, 32, 60, 60]) {
      await endPause(merchantId);
      const probe = await world.claim();
      expect(probe).toHaveLength(1);
      // Another process, which does not know the probe.
      expect(await world.claim()).toEqual([]);
      await fail(probe);
      expect(await laneOf(merchantId)).toMatchObject({ ...openFor(rest), recovery_limit: null });
    }
  });

  test('closes slowly: one, two, four, eight concurrent attempts', async () => {
    const { merchantId } = await openLane();
    await endPause(merchantId);
    const sizes: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const claimed = await world.claim();
      sizes.push(claimed.length);
      await succeed(claimed);
    }
    expect(sizes).toEqual([1, 2, 4, 8]);
    expect(await laneOf(merchantId)).toMatchObject({
      failures: 0,
      circuit_state: 'closed',
      times_opened: 0,
      recovery_limit: null,
    });
  });

  test('opens for longer than before when it fails while recovering', async () => {
    const { merchantId } = await openLane();
    await endPause(merchantId);
    await succeed(await world.claim());
    await fail(await world.claim());
    expect(await laneOf(merchantId)).toMatchObject({ ...openFor(2), times_opened: 2, recovery_limit: null });
  });

  test('does not open for longer because of attempts that were in flight when it opened', async () => {
    const merchantId = await world.addMerchant();
    for (let n = 0; n < 8; n += 1) await world.addEvent(merchantId);
    const claimed = await world.claim();
    await fail(claimed.slice(0, 4));
    await fail(claimed.slice(4, 6));
    await fail(claimed.slice(6), { retry_delay_seconds: null });
    expect(await laneOf(merchantId)).toMatchObject({ failures: 8, times_opened: 1, ...openFor(1) });
    await keepOpen(merchantId);
    expect(await world.claim()).toEqual([]);
  });

  test('stays open when new events come', async () => {
    const { merchantId } = await openLane();
    await fail(await endPause(merchantId).then(() => world.claim()));
    expect(await laneOf(merchantId)).toMatchObject(openFor(2));
    await keepOpen(merchantId);
    await world.addEvent(merchantId);
    expect(await world.claim()).toEqual([]);
    expect(await laneOf(merchantId)).toMatchObject(openFor(3_602));
  });

  test('is probed again when the lease of a probe expires because its process died', async () => {
    const { merchantId } = await openLane();
    await endPause(merchantId);
    const [lost] = await world.claim();
    expect(await laneOf(merchantId)).toMatchObject({
      circuit_state: 'half_open',
      open_for: left(45),
      due_in: left(45),
    });
    await endPause(merchantId);
    await world.pool.query(`update delivery set next_attempt_at = now() where event_id = $1`, [lost!.event_id]);
    const again = await world.claim();
    expect(again).toHaveLength(1);
    await succeed(again);
    expect(await world.claim()).toHaveLength(2);
  });

  test('stays open when an earlier delivery is released, but not when its probe is', async () => {
    const { merchantId } = await openLane();
    await world.pool.query(`update lane set next_due_at = now()`);
    const straggler = await world.claim({ perLane: 1 });
    await world.pool.query(
      `update lane set circuit_state = 'open', open_until = now() + interval '30 seconds', next_due_at = now() + interval '30 seconds'`,
    );
    await releaseDeliveries(world.pool, straggler, 5);
    expect(await laneOf(merchantId)).toMatchObject({ due_in: left(30) });
    await endPause(merchantId);
    await releaseDeliveries(world.pool, await world.claim(), 5);
    expect(await laneOf(merchantId)).toMatchObject({ due_in: left(5) });
  });

  test('does not delay other lanes', async () => {
    const { merchantId } = await openLane();
    await keepOpen(merchantId);
    const eventId = await world.addEvent(await world.addMerchant('other.io'));
    expect((await world.claim()).map((c) => c.event_id)).toEqual([eventId]);
  });
});

describe('an open circuit is probed immediately', () => {
  test.each(['merchant', 'operator'])('when its %s retries an event', async (who) => {
    const { merchantId, eventIds } = await openLane();
    await fail(await endPause(merchantId).then(() => world.claim()), { retry_delay_seconds: null });
    const { rows } = await world.pool.query<{ event_id: string }>(
      `select event_id from delivery where status = 'failed'`,
    );
    expect(eventIds).toContain(rows[0]!.event_id);
    const retry = {
      eventId: rows[0]!.event_id,
      ...(who === 'merchant'
        ? { merchantId, author: byMerchant, action: 'event_retried' as const }
        : { merchantId: null, author: { actor: 'olga', reason: 'back' }, action: 'event_recovered' as const }),
    };
    expect(await transaction(world.pool, (tx) => startCycle(tx, retry))).toMatchObject({ outcome: 'started' });
    expect(await world.claim()).toHaveLength(1);
    expect(await world.claim()).toEqual([]);
  });

  const newKey = () => {
    const keyId = newId('whk');
    return { keyId, ...createKeyVault(Buffer.alloc(32)).seal(keyId, 'whsec_y') };
  };

  test('when its key is rotated', async () => {
    const { merchantId } = await openLane();
    const key = newKey();
    await transaction(world.pool, (tx) => replaceKey(tx, merchantId, key));
    expect(await world.claim()).toMatchObject([{ key_id: key.keyId }]);
  });

  const setUrl = (merchantId: string, url: string) => {
    const endpoint = { merchantId, url, host: new URL(url).hostname, offeredKey: newKey() };
    return transaction(world.pool, (tx) => saveEndpoint(tx, endpoint));
  };

  test('when the URL changes, even if we opened it because of our own fault', async () => {
    const merchantId = await world.addMerchant();
    for (let n = 0; n < 9; n += 1) await world.addEvent(merchantId);
    await openLaneCircuits(world.pool, new Set([merchantId]), 60);
    expect(await world.claim()).toEqual([]);
    expect(await laneOf(merchantId)).toMatchObject({ ...openFor(60), error_category: 'interrupted' });
    await setUrl(merchantId, 'https://new.io/');
    expect(await world.claim()).toHaveLength(1);
  });

  test('when the URL changes, at the new URL, whose successes close it step by step', async () => {
    const { merchantId } = await openLane();
    await setUrl(merchantId, 'https://new.io/');
    const probe = await world.claim();
    expect(probe).toMatchObject([{ host: 'new.io' }]);
    expect(await world.claim()).toEqual([]);
    await succeed(probe);
    expect(await laneOf(merchantId)).toMatchObject({ circuit_state: 'recovering', recovery_limit: 2 });
  });

  test('but not when the same URL is set again, and changing URLs does not make a failing receiver healthy', async () => {
    const { merchantId } = await openLane();
    await keepOpen(merchantId);
    const wholeLane = () => world.pool.query<object>('select * from lane').then(({ rows }) => rows);
    const before = await wholeLane();
    await setUrl(merchantId, 'https://hooks.io/');
    expect(await wholeLane()).toEqual(before);
    expect(await world.claim()).toEqual([]);
    for (const url of ['https://hooks.io/2', 'https://hooks.io/']) {
      await setUrl(merchantId, url);
      await fail(await world.claim());
    }
    expect(await laneOf(merchantId)).toMatchObject({ circuit_state: 'open', failures: 6, times_opened: 3 });
  });
});

describe('a host that gets fewer attempts', () => {
  test('shares its room among its lanes, and the other events stay due', async () => {
    const merchants = await Promise.all([1, 2, 3].map(() => world.addMerchant('shared.io')));
    for (const merchantId of merchants) for (let n = 0; n < 5; n += 1) await world.addEvent(merchantId);
    const shared = (room: number) => ({ hosts: { 'shared.io': { room: room, pause_seconds: 0 } } });
    expect(await world.claim(shared(7))).toHaveLength(6);
    expect(await world.claim(shared(0))).toEqual([]);
    expect(await world.claim(shared(2))).toHaveLength(2);
    expect(await world.claim({ perHost: 3 })).toHaveLength(3);
    expect(await world.claim()).toHaveLength(4);
  });

  test('with a pause delays its lanes, but not their events, after other processes had time to claim them', async () => {
    const merchants = [await world.addMerchant('dead.io'), await world.addMerchant('dead.io')];
    const eventIds = await Promise.all(merchants.map((merchantId) => world.addEvent(merchantId)));
    const resting = { hosts: { 'dead.io': { room: 1, pause_seconds: 4 } } };
    await transaction(world.pool, async (tx) => {
      // In one transaction, so that now() does not change: they have just become due.
      await tx.query(`update lane set next_due_at = now()`);
      expect(await world.claim(resting, tx as unknown as Pool)).toEqual([]);
      expect((await tx.query(`select from lane where next_due_at = now()`)).rowCount).toBe(2);
    });
    await world.pool.query(`update lane set next_due_at = now() - interval '1.6 seconds'`);
    expect(await world.claim(resting)).toEqual([]);
    for (const merchantId of merchants)
      expect(await laneOf(merchantId)).toMatchObject({ due_in: left(4), circuit_state: 'closed', open_for: null });
    for (const id of eventIds)
      expect(await world.stateOf(id)).toMatchObject({ attempts: 0, due_in: left(0), leased: false });
    await world.pool.query(`update lane set next_due_at = next_due_at + interval '1 hour'`);
    expect(await world.claim()).toEqual([]);
    await endPause(merchants[0]!);
    expect(await world.claim()).toHaveLength(1);
  });
});

describe('events of a receiver that stays dead', () => {
  const age = (days: number) =>
    world.pool.query(
      `with aged as (update lane set failing_since = failing_since - make_interval(days => $1))
       update delivery set cycle_started_at = cycle_started_at - make_interval(days => $1)`,
      [days],
    );
  const giveUp = () => giveUpDeliveries(world.pool, 3 * 86_400);

  test('are given up after the time of all their retries', async () => {
    const { merchantId, eventIds } = await openLane();
    const healthy = await world.addMerchant('other.io');
    await world.addEvent(healthy);
    await age(2);
    expect(await giveUp()).toBe(0);
    await age(1);
    const young = await world.addEvent(merchantId);
    expect(await giveUp()).toBe(eventIds.length);
    expect(await giveUp()).toBe(0);
    const { rows } = await world.pool.query(
      `select status, error_category, count(*)::int as events from delivery group by 1, 2 order by 1, 2`,
    );
    expect(rows).toEqual([
      { status: 'failed', error_category: 'http_5xx', events: eventIds.length },
      { status: 'pending', error_category: null, events: 2 },
    ]);
    expect(await world.stateOf(young)).toMatchObject({ status: 'pending' });
  });

  test('are not given up while the lane is held, or while one of them is in flight', async () => {
    const { merchantId, eventIds } = await openLane();
    await age(4);
    await world.pool.query(`update lane set held = true`);
    expect(await giveUp()).toBe(0);
    await world.pool.query(`update lane set held = false`);
    await endPause(merchantId);
    expect(await world.claim()).toHaveLength(1);
    expect(await giveUp()).toBe(eventIds.length - 1);
  });

  test('get the same time again when the merchant is unblocked and when its URL changes', async () => {
    const { merchantId, eventIds } = await openLane();
    const setHeld = (held: boolean, statusVersion: number) =>
      transaction(world.pool, (tx) => holdLane(tx, { merchantId, held, statusVersion }));
    await age(2);
    await setHeld(true, 1);
    await age(30);
    await setHeld(false, 2);
    expect(await giveUp()).toBe(0);
    await age(4);
    const offeredKey = { keyId: newId('whk'), ...createKeyVault(Buffer.alloc(32)).seal('whk', 'whsec_y') };
    const endpoint = { merchantId, url: 'https://new.io/', host: 'new.io', offeredKey };
    await transaction(world.pool, (tx) => saveEndpoint(tx, endpoint));
    expect(await giveUp()).toBe(0);
    await age(3);
    expect(await giveUp()).toBe(eventIds.length);
  });
});
