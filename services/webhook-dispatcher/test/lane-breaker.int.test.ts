import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { createKeyVault } from '../src/endpoints/key-vault.ts';
import { byMerchant } from '../src/store/audit.ts';
import { releaseDeliveries } from '../src/store/claim.ts';
import type { Claimed } from '../src/store/claim.ts';
import { replaceKey, saveEndpoint } from '../src/store/endpoint.ts';
import { giveUpDeliveries } from '../src/store/give-up.ts';
import { restLanes } from '../src/store/lane.ts';
import { startCycle } from '../src/store/retry.ts';
import { settleAttempts } from '../src/store/settle.ts';
import { failure, outcome, startStoreWorld } from './store-world.ts';
import type { StoreWorld } from './store-world.ts';

let world: StoreWorld;
beforeAll(async () => {
  world = await startStoreWorld();
}, 60_000);
beforeEach(() => world.empty());
afterAll(() => world.stop(), 60_000);

/** Closes after four failures, whatever their time. */
const breaker = { closeAfter: 4, closeAfterSeconds: 0, longestCloseSeconds: 60, recoveredAt: 8 };

const fail = (claimed: readonly Claimed[], over: Parameters<typeof outcome>[1] = {}) =>
  settleAttempts(
    world.pool,
    claimed.map((c) => outcome(c, { ...failure, retryDelaySeconds: 0, ...over })),
    breaker,
  );
const succeed = (claimed: readonly Claimed[]) =>
  settleAttempts(
    world.pool,
    claimed.map((c) => outcome(c)),
    breaker,
  );

async function laneOf(merchantId: string) {
  const { rows } = await world.pool.query<Record<string, unknown>>(
    `select failures, closed_times, recovering_cap, error_category,
            ceil(extract(epoch from closed_until - now()))::int as closed_for,
            ceil(extract(epoch from next_due_at - now()))::int as due_in
       from lane where merchant_id = $1`,
    [merchantId],
  );
  return rows[0];
}

/** As if the rest of a closed lane, or the lease of what is being tried, were over. */
const passRest = (merchantId: string) =>
  world.pool.query(
    `update lane set closed_until = least(closed_until, now()), next_due_at = least(next_due_at, now()) where merchant_id = $1`,
    [merchantId],
  );

/** A merchant with events, whose lane is closed for the first time. */
async function closedLane({ events = 30 } = {}) {
  const merchantId = await world.addMerchant();
  const eventIds: string[] = [];
  for (let n = 0; n < events; n += 1) eventIds.push(await world.addEvent(merchantId));
  await fail(await world.claim({ perLane: 3 }));
  await fail(await world.claim({ perLane: 1 }));
  expect(await laneOf(merchantId)).toMatchObject({ failures: 4, closed_times: 1, closed_for: 1 });
  return { merchantId, eventIds };
}

describe('a lane whose receiver keeps failing', () => {
  test('is closed, and what waits in it is charged nothing', async () => {
    const { merchantId } = await closedLane();
    expect(await laneOf(merchantId)).toMatchObject({ recovering_cap: null, error_category: 'http_5xx', due_in: 1 });
    expect(await world.claim()).toEqual([]);
    const { rows } = await world.pool.query(`select sum(attempts)::int as attempts from delivery`);
    expect(rows).toEqual([{ attempts: 4 }]);
  });

  test('is not closed by failures that all came within a few seconds', async () => {
    const merchantId = await world.addMerchant();
    for (let n = 0; n < 8; n += 1) await world.addEvent(merchantId);
    const patient = { ...breaker, closeAfterSeconds: 10 };
    const failed = async () => {
      const outcomes = (await world.claim()).map((c) => outcome(c, { ...failure, retryDelaySeconds: 0 }));
      await settleAttempts(world.pool, outcomes, patient);
    };
    await failed();
    await failed();
    expect(await laneOf(merchantId)).toMatchObject({ failures: 16, closed_for: null });
    await world.pool.query(`update lane set failing_since = now() - interval '11 seconds'`);
    await failed();
    expect(await laneOf(merchantId)).toMatchObject({ failures: 24, closed_for: 1 });
  });

  test('is closed at once when ten times as many fail', async () => {
    const merchantId = await world.addMerchant();
    for (let n = 0; n < 40; n += 1) await world.addEvent(merchantId);
    const quick = (await world.claim({ perLane: 40 })).map((c) => outcome(c, { ...failure, retryDelaySeconds: 60 }));
    const patient = { ...breaker, closeAfterSeconds: 10 };
    await settleAttempts(world.pool, quick.slice(0, 39), patient);
    expect(await laneOf(merchantId)).toMatchObject({ failures: 39, closed_for: null });
    await settleAttempts(world.pool, quick.slice(39), patient);
    expect(await laneOf(merchantId)).toMatchObject({ failures: 40, closed_for: 1 });
  });

  test('is not closed while an attempt succeeds now and then', async () => {
    const merchantId = await world.addMerchant();
    for (let n = 0; n < 8; n += 1) await world.addEvent(merchantId);
    for (let round = 0; round < 3; round += 1) {
      const claimed = await world.claim();
      await fail(claimed.slice(1));
      await succeed(claimed.slice(0, 1));
      expect(await laneOf(merchantId)).toMatchObject({ failures: 0, closed_for: null });
    }
  });

  test('is tried with one event, by one process, and closed twice as long when that fails', async () => {
    const { merchantId } = await closedLane();
    for (const rest of [2, 4, 8, 16, 32, 60, 60]) {
      await passRest(merchantId);
      const tried = await world.claim();
      expect(tried).toHaveLength(1);
      // Another process, which knows nothing of that attempt.
      expect(await world.claim()).toEqual([]);
      await fail(tried);
      expect(await laneOf(merchantId)).toMatchObject({ closed_for: rest, due_in: rest, recovering_cap: null });
    }
  });

  test('opens slowly: one, two, four, eight at once', async () => {
    const { merchantId } = await closedLane();
    await passRest(merchantId);
    const sizes: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const claimed = await world.claim();
      sizes.push(claimed.length);
      await succeed(claimed);
    }
    expect(sizes).toEqual([1, 2, 4, 8]);
    expect(await laneOf(merchantId)).toMatchObject({ failures: 0, closed_times: 0, recovering_cap: null });
  });

  test('that fails again on its way up is closed for longer than before', async () => {
    const { merchantId } = await closedLane();
    await passRest(merchantId);
    await succeed(await world.claim());
    await fail(await world.claim());
    expect(await laneOf(merchantId)).toMatchObject({ closed_for: 2, closed_times: 2, recovering_cap: null });
  });

  test('is not closed for longer by what was under way when it was closed', async () => {
    const merchantId = await world.addMerchant();
    for (let n = 0; n < 8; n += 1) await world.addEvent(merchantId);
    const claimed = await world.claim();
    await fail(claimed.slice(0, 4));
    await fail(claimed.slice(4, 6));
    await fail(claimed.slice(6), { retryDelaySeconds: null });
    expect(await laneOf(merchantId)).toMatchObject({ failures: 8, closed_times: 1, closed_for: 1, due_in: 1 });
    expect(await world.claim()).toEqual([]);
  });

  test('stays closed when new events come', async () => {
    const { merchantId } = await closedLane();
    await fail(await passRest(merchantId).then(() => world.claim()));
    await world.addEvent(merchantId);
    expect(await world.claim()).toEqual([]);
    expect(await laneOf(merchantId)).toMatchObject({ closed_for: 2, due_in: 2 });
  });

  test('whose trying process died is tried again when its lease is over', async () => {
    const { merchantId } = await closedLane();
    await passRest(merchantId);
    const [lost] = await world.claim();
    expect(await laneOf(merchantId)).toMatchObject({ closed_for: 45, due_in: 45, recovering_cap: 1 });
    await passRest(merchantId);
    await world.pool.query(`update delivery set next_attempt_at = now() where event_id = $1`, [lost!.event_id]);
    const again = await world.claim();
    expect(again).toHaveLength(1);
    await succeed(again);
    expect(await world.claim()).toHaveLength(2);
  });

  test('stays closed when a straggler is given back, but not when the event it was to be tried with is', async () => {
    const { merchantId } = await closedLane();
    await world.pool.query(`update lane set next_due_at = now()`);
    const straggler = await world.claim({ perLane: 1 });
    await world.pool.query(
      `update lane set closed_until = now() + interval '30 seconds', next_due_at = now() + interval '30 seconds', recovering_cap = null`,
    );
    await releaseDeliveries(world.pool, straggler, 5);
    expect(await laneOf(merchantId)).toMatchObject({ due_in: 30 });
    await passRest(merchantId);
    await releaseDeliveries(world.pool, await world.claim(), 5);
    expect(await laneOf(merchantId)).toMatchObject({ due_in: 5 });
  });

  test('does not keep others waiting', async () => {
    await closedLane();
    const eventId = await world.addEvent(await world.addMerchant('other.io'));
    expect((await world.claim()).map((c) => c.event_id)).toEqual([eventId]);
  });
});

describe('a closed lane is tried at once', () => {
  test.each(['merchant', 'operator'])('when its %s has an event delivered anew', async (who) => {
    const { merchantId, eventIds } = await closedLane();
    await fail(await passRest(merchantId).then(() => world.claim()), { retryDelaySeconds: null });
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
    const { merchantId } = await closedLane();
    const key = newKey();
    await transaction(world.pool, (tx) => replaceKey(tx, merchantId, key));
    expect(await world.claim()).toMatchObject([{ key_id: key.keyId }]);
  });

  test('and opened, when it leads elsewhere, although no receiver closed it', async () => {
    const merchantId = await world.addMerchant();
    for (let n = 0; n < 9; n += 1) await world.addEvent(merchantId);
    await restLanes(world.pool, new Set([merchantId]), 60);
    expect(await world.claim()).toEqual([]);
    expect(await laneOf(merchantId)).toMatchObject({ closed_for: 60, due_in: 60, error_category: 'interrupted' });
    const endpoint = { merchantId, url: 'https://new.io/', host: 'new.io', offeredKey: newKey() };
    await transaction(world.pool, (tx) => saveEndpoint(tx, endpoint));
    expect(await world.claim()).toHaveLength(8);
  });

  test('and opened, when it leads elsewhere from now on', async () => {
    const { merchantId } = await closedLane();
    const endpoint = { merchantId, url: 'https://new.io/', host: 'new.io', offeredKey: newKey() };
    await transaction(world.pool, (tx) => saveEndpoint(tx, endpoint));
    const claimed = await world.claim();
    expect(claimed).toHaveLength(8);
    expect(claimed[0]).toMatchObject({ host: 'new.io' });
  });
});

describe('a host that gets fewer attempts', () => {
  test('shares its room out among the lanes that lead there, and the rest stays due', async () => {
    const merchants = await Promise.all([1, 2, 3].map(() => world.addMerchant('shared.io')));
    for (const merchantId of merchants) for (let n = 0; n < 5; n += 1) await world.addEvent(merchantId);
    const shared = (room: number) => ({ hosts: { 'shared.io': { room: room, rest: 0 } } });
    expect(await world.claim(shared(7))).toHaveLength(6);
    expect(await world.claim(shared(0))).toEqual([]);
    expect(await world.claim(shared(2))).toHaveLength(2);
    expect(await world.claim({ perHost: 3 })).toHaveLength(3);
    expect(await world.claim()).toHaveLength(4);
  });

  test('and rests puts its lanes off, without touching their events, once no other process has taken them', async () => {
    const merchants = [await world.addMerchant('dead.io'), await world.addMerchant('dead.io')];
    const eventIds = await Promise.all(merchants.map((merchantId) => world.addEvent(merchantId)));
    const resting = { hosts: { 'dead.io': { room: 1, rest: 4 } } };
    expect(await world.claim(resting)).toEqual([]);
    for (const merchantId of merchants) expect(await laneOf(merchantId)).toMatchObject({ due_in: 0 });
    await world.pool.query(`update lane set next_due_at = now() - interval '1.6 seconds'`);
    expect(await world.claim(resting)).toEqual([]);
    for (const merchantId of merchants) expect(await laneOf(merchantId)).toMatchObject({ due_in: 4, closed_for: null });
    for (const id of eventIds) expect(await world.stateOf(id)).toMatchObject({ attempts: 0, due_in: 0, leased: false });
    expect(await world.claim()).toEqual([]);
    await passRest(merchants[0]!);
    expect(await world.claim()).toHaveLength(1);
  });
});

describe('events of a receiver that is dead for good', () => {
  const age = (days: number) =>
    world.pool.query(
      `with aged as (update lane set failing_since = failing_since - make_interval(days => $1))
       update delivery set cycle_started_at = cycle_started_at - make_interval(days => $1)`,
      [days],
    );
  const giveUp = () => giveUpDeliveries(world.pool, 3 * 86_400);

  test('are given up once all their retries would have been over', async () => {
    const { merchantId, eventIds } = await closedLane();
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

  test('are not while the lane is held, or one of them is being tried', async () => {
    const { merchantId, eventIds } = await closedLane();
    await age(4);
    await world.pool.query(`update lane set held = true`);
    expect(await giveUp()).toBe(0);
    await world.pool.query(`update lane set held = false`);
    await passRest(merchantId);
    expect(await world.claim()).toHaveLength(1);
    expect(await giveUp()).toBe(eventIds.length - 1);
  });
});
