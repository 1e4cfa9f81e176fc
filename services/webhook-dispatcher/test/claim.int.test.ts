import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Pool } from '@quittance/postgres/pool.ts';
import { laneCircuitPolicy } from '../src/lanes/in-flight-limits.ts';
import { paces, type Pace } from '../src/state.ts';
import { releaseDeliveries, type Claimed, settleAttempts, type Outcome } from '../src/lanes/claim.sql.ts';
import { markLanesSlow } from '../src/lanes/lane.sql.ts';
import { failure, outcome, left, startStoreWorld, type StoreWorld } from './store-world.ts';

let world: StoreWorld;
let pool: Pool;
beforeAll(async () => {
  world = await startStoreWorld();
  pool = world.pool;
});
beforeEach(() => world.empty());
afterAll(() => world.stop());

const claim = (...args: Parameters<StoreWorld['claim']>) => world.claim(...args);
const tryClaim = (...args: Parameters<StoreWorld['tryClaim']>) => world.tryClaim(...args);
const addMerchant = (host?: string, pace?: Pace) => world.addMerchant(host, pace);
const addEvent = (merchantId: string) => world.addEvent(merchantId);
const stateOf = (eventId: string) => world.stateOf(eventId);
const lapse = () => world.lapse();
const settle = (outcomes: readonly Outcome[]) => settleAttempts(pool, outcomes, laneCircuitPolicy);

describe('a claim', () => {
  test('leases due deliveries to one claimer only, for 45 seconds', async () => {
    const merchantId = await addMerchant();
    const eventId = await addEvent(merchantId);
    const [claimed] = await claim();
    expect(claimed).toMatchObject({
      event_id: eventId,
      attempts: 0,
      cycle: 1,
      lapsed: false,
      url: 'https://hooks.io/',
    });
    expect(await claim()).toEqual([]);
    expect(await stateOf(eventId)).toMatchObject({ status: 'pending', leased: true, due_in: left(45) });
    // The claimer may die, and then only this makes the lane due.
    const { rows } = await pool.query(
      'select ceil(extract(epoch from next_due_at - now()))::int as due_in from lane where merchant_id = $1',
      [merchantId],
    );
    expect(rows).toEqual([{ due_in: left(45) }]);
  });

  test('leases no more of a lane than its limit in flight, and visits all lanes in turn', async () => {
    const merchants = await Promise.all([addMerchant(), addMerchant(), addMerchant()]);
    for (const merchantId of merchants) await Promise.all([1, 2, 3, 4].map(() => addEvent(merchantId)));
    const first = await claim({ perLane: 2, room: 4 });
    expect(first).toHaveLength(4);
    const inFlight = Object.fromEntries(merchants.map((m) => [m, count(first, m)]));
    const second = await claim({ perLane: 2, inFlight });
    const perLane = merchants.map((m) => count(first, m) + count(second, m));
    expect(perLane).toEqual([2, 2, 2]);
  });

  const count = (claimed: Claimed[], merchantId: string) => claimed.filter((c) => c.lane_id === merchantId).length;

  test('reaches other lanes while one has a long backlog', async () => {
    const [busy, quiet] = [await addMerchant(), await addMerchant()];
    for (let n = 0; n < 20; n += 1) await addEvent(busy);
    await claim({ room: 1 });
    const eventId = await addEvent(quiet);
    const next = [...(await claim({ room: 1 })), ...(await claim({ room: 1 }))];
    expect(next.map((c) => c.event_id)).toContain(eventId);
    expect(await claim({ perLane: 20 })).toHaveLength(21 - 1 - next.length);
  });

  test('finds the one lane with due deliveries among many without', async () => {
    // A new endpoint's lane is due once, to find events that are older than the endpoint.
    for (let n = 0; n < 17; n += 1) await addMerchant();
    const eventId = await addEvent(await addMerchant());
    const first = await tryClaim({ room: 5 });
    expect(first).toMatchObject({ claimed: [], more: true });
    const second = await tryClaim({ room: 5 });
    expect(second.claimed.map((c) => c.event_id)).toEqual([eventId]);
  });

  test('skips lanes to a host at its limit', async () => {
    await addEvent(await addMerchant('busy.io'));
    const eventId = await addEvent(await addMerchant('free.io'));
    const claimed = await claim({ hosts: { 'busy.io': { room: 0, pause_seconds: 0 } } });
    expect(claimed.map((c) => c.event_id)).toEqual([eventId]);
  });

  test('concurrent with other claims and new events forgets no event and leases none twice', async () => {
    const merchants = await Promise.all(Array.from({ length: 5 }, () => addMerchant()));
    const added: string[] = [];
    const claimed: string[] = [];
    let adding = true;
    const claimer = async (): Promise<void> => {
      // A claim finds nothing while another one has locked the lanes, and misses events that are added after it began. Only claims
      // that began after the last event was added show whether any event is left.
      for (let empty = 0; empty < 3;) {
        const allAdded = !adding;
        const batch = await claim({ room: 7 });
        claimed.push(...batch.map((c) => c.event_id));
        empty = allAdded && batch.length === 0 ? empty + 1 : 0;
      }
    };
    const adder = async (n: number): Promise<void> => {
      for (let i = 0; i < 40; i += 1) added.push(await addEvent(merchants[(n + i) % 5]!));
    };
    const claimers = [claimer(), claimer()];
    await Promise.all([0, 1, 2].map(adder));
    adding = false;
    await Promise.all(claimers);
    expect(claimed.toSorted()).toEqual(added.toSorted());
  });

  test('skips a lane that another process has locked, without waiting for it', async () => {
    const [locked, free] = [await addMerchant(), await addMerchant()];
    const [, eventId] = [await addEvent(locked), await addEvent(free)];
    const holder = await world.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select from lane where merchant_id = $1 for update', [locked]);
      expect((await world.claim()).map((claimed) => claimed.event_id)).toEqual([eventId]);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    expect(await world.claim()).toHaveLength(1);
  });

  test('counts an expired lease as an interruption, not as an attempt', async () => {
    const eventId = await addEvent(await addMerchant());
    await claim();
    await lapse();
    const [again] = await claim();
    expect(again).toMatchObject({ event_id: eventId, lapsed: true, attempts: 0 });
    expect(await stateOf(eventId)).toMatchObject({ interruptions: 1, attempts: 0, error_category: 'interrupted' });
  });

  test('can be released: its deliveries are due again, without attempt or interruption', async () => {
    const eventId = await addEvent(await addMerchant());
    await releaseDeliveries(pool, await claim(), 0);
    const [again] = await claim();
    expect(again).toMatchObject({ event_id: eventId, lapsed: false });
    expect(await stateOf(eventId)).toMatchObject({ interruptions: 0, attempts: 0, error_category: null });
  });
});

describe('the pace of a lane', () => {
  const paceOf = async (merchantId: string) => {
    const { rows } = await pool.query<{ pace: string }>('select pace from lane where merchant_id = $1', [merchantId]);
    return rows[0]?.pace;
  };
  const allow = (rooms: Partial<Record<Pace, number>>) =>
    claim({
      paces: paces.map((pace) => ({ pace, room: rooms[pace] ?? 0, perLane: 1 })).filter(({ room }) => room > 0),
    });

  test('that has no room left is not claimed, and stays due', async () => {
    const slow = await Promise.all([1, 2, 3].map(() => addMerchant('slow.io', 'slow')));
    for (const merchantId of slow) await addEvent(merchantId);
    const eventId = await addEvent(await addMerchant('quick.io'));
    const { rows: before } = await pool.query('select * from lane where pace = $1 order by merchant_id', ['slow']);
    expect((await allow({ quick: 9, new: 9 })).map((c) => c.event_id)).toEqual([eventId]);
    const { rows: after } = await pool.query('select * from lane where pace = $1 order by merchant_id', ['slow']);
    expect(after).toEqual(before);
    // One per claim, with any amount of room.
    expect(await allow({ quick: 9, slow: 9 })).toHaveLength(1);
    expect(await allow({ quick: 9, slow: 9 })).toHaveLength(1);
  });

  test('is returned by a claim, so that an attempt takes a place of the right pace', async () => {
    for (const pace of paces) await addEvent(await addMerchant(`${pace}.io`, pace));
    const claimed = await claim();
    expect(new Map(claimed.map(({ host, pace }) => [host, pace]))).toEqual(
      new Map(paces.map((pace) => [`${pace}.io`, pace])),
    );
  });

  test('of a new merchant is set by its first attempts, and changes when they do', async () => {
    const merchantId = await addMerchant('new.io', 'new');
    for (const [how, expected] of [
      [['quick', 'quick'], 'quick'],
      [['quick', 'slow'], 'slow'],
      [['slow'], 'slow'],
      [['quick'], 'quick'],
    ] as const) {
      await Promise.all(how.map(() => addEvent(merchantId)));
      const claimed = await claim();
      await settle(claimed.map((c, n) => outcome(c, { pace: how[n]! })));
      expect(await paceOf(merchantId)).toBe(expected);
    }
    await addEvent(merchantId);
    await settle((await claim()).map((c) => outcome(c, { ...failure, pace: 'slow' })));
    expect(await paceOf(merchantId)).toBe('slow');
  });

  test('is set while an attempt hangs', async () => {
    const [hanging, other] = [await addMerchant('hanging.io', 'new'), await addMerchant('other.io')];
    await markLanesSlow(pool, [hanging]);
    expect([await paceOf(hanging), await paceOf(other)]).toEqual(['slow', 'quick']);
  });
});

describe('a settlement', () => {
  test('makes a failure due again after its delay, and fails the event after the last one', async () => {
    const eventId = await addEvent(await addMerchant());
    const [first] = await claim();
    await settle([outcome(first!, { ...failure, retry_delay_seconds: 30 })]);
    expect(await stateOf(eventId)).toEqual({
      status: 'pending',
      attempts: 1,
      interruptions: 0,
      error_category: 'http_5xx',
      leased: false,
      due_in: left(30),
    });
    await lapse();
    await pool.query('update delivery set next_attempt_at = now()');
    const [second] = await claim();
    await settle([outcome(second!, { ...failure, retry_delay_seconds: null })]);
    expect(await stateOf(eventId)).toMatchObject({ status: 'failed', attempts: 2, due_in: null });
  });

  test('makes a retry due in time if that is before its lease would have expired', async () => {
    const eventId = await addEvent(await addMerchant());
    const [first] = await claim();
    await settle([outcome(first!, { ...failure, retry_delay_seconds: 0 })]);
    expect((await claim()).map((c) => c.event_id)).toEqual([eventId]);
  });

  test('counts a success even if another process has the lease by now', async () => {
    const eventId = await addEvent(await addMerchant());
    const [early] = await claim();
    await lapse();
    const [late] = await claim();
    await settle([outcome(early!)]);
    expect(await stateOf(eventId)).toMatchObject({ status: 'delivered', error_category: null, leased: false });
    await settle([outcome(late!, { ...failure, retry_delay_seconds: 1 })]);
    expect(await stateOf(eventId)).toMatchObject({ status: 'delivered', error_category: null });
  });

  test('counts a failure only under its own lease', async () => {
    const eventId = await addEvent(await addMerchant());
    const [early] = await claim();
    await lapse();
    await claim();
    await settle([outcome(early!, { ...failure, retry_delay_seconds: null })]);
    expect(await stateOf(eventId)).toMatchObject({ status: 'pending', attempts: 0, leased: true });
  });

  test('counts the success if one batch has a success and a failure of an event', async () => {
    const eventId = await addEvent(await addMerchant());
    const [early] = await claim();
    await lapse();
    const [late] = await claim();
    await settle([outcome(late!, failure), outcome(early!)]);
    expect(await stateOf(eventId)).toMatchObject({ status: 'delivered' });
    const { rowCount } = await pool.query('select 1 from attempt where event_id = $1', [eventId]);
    expect(rowCount).toBe(2);
  });

  test('counts a late success even after the event was given up', async () => {
    const eventId = await addEvent(await addMerchant());
    const [early] = await claim();
    await lapse();
    const [late] = await claim();
    await settle([outcome(late!, { ...failure, retry_delay_seconds: null })]);
    expect(await stateOf(eventId)).toMatchObject({ status: 'failed' });
    await settle([outcome(early!)]);
    expect(await stateOf(eventId)).toMatchObject({ status: 'delivered', error_category: null });
  });

  test('that is repeated, because its commit may have succeeded, stores each outcome once', async () => {
    const [delivered, failed] = [await addEvent(await addMerchant()), await addEvent(await addMerchant())];
    const outcomes = (await claim()).map((c) => outcome(c, c.event_id === failed ? failure : {}));
    await settle(outcomes);
    await settle(outcomes);
    expect(await stateOf(delivered)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(await stateOf(failed)).toMatchObject({ status: 'pending', attempts: 1 });
    const { rowCount } = await pool.query('select 1 from attempt');
    expect(rowCount).toBe(2);
  });

  test('does not deadlock with one of the same events and lanes in opposite order', async () => {
    const merchants = await Promise.all(Array.from({ length: 10 }, () => addMerchant()));
    await Promise.all(merchants.map(addEvent));
    const early = await claim();
    await lapse();
    const late = await claim();
    const failed = (claimed: Claimed) => outcome(claimed, { ...failure, retry_delay_seconds: 1 });
    await Promise.all([settle(early.map(failed)), settle(late.toReversed().map(failed))]);
    const { rows } = await pool.query(`select distinct status, attempts from delivery`);
    expect(rows).toEqual([{ status: 'pending', attempts: 1 }]);
  });
});
