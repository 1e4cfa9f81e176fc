import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { status } from '../receiver.ts';
import type { Merchant } from '../world.ts';
import { insertBacklog } from './backlog.ts';
import { openSite } from './site.ts';
import type { Site } from './site.ts';
import { createGate } from './visits.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite({ retryDelaysSeconds: '1,1,1,1,1,1,1,1' });
}, 120_000);
afterEach(async () => expect(await site.violations()).toEqual([]));
afterAll(() => site.world.stop(), 60_000);

const BACKLOG = 1_000;
/** Attempts that a lane may have in flight. */
const LANE_BOUND = 8;

type LaneRow = { failures: number; closed_times: number; is_closed: boolean; recovering_cap: number | null };

async function laneOf({ merchantId }: Merchant): Promise<LaneRow> {
  const { rows } = await site.world.pool.query<LaneRow>(
    `select failures, closed_times, closed_until is not null as is_closed, recovering_cap from lane where merchant_id = $1`,
    [merchantId],
  );
  return rows[0]!;
}

test('a dead receiver with a backlog is spared, costs the others nothing, and is led back slowly', async () => {
  const gate = createGate();
  const [dead] = (await site.merchants(1, () => status(503))) as [Merchant];
  const others = await site.merchants(5);
  await insertBacklog(site.world.pool, dead, BACKLOG);
  await eventually(async () => expect((await laneOf(dead)).failures).toBeGreaterThanOrEqual(50));
  // As if it had failed for ten seconds.
  await site.world.pool.query(
    `update lane set failing_since = failing_since - interval '10 seconds' where merchant_id = $1`,
    [dead.merchantId],
  );
  await eventually(async () => expect((await laneOf(dead)).closed_times).toBeGreaterThan(0));
  const charged = site.book.of(dead.host).length;

  await site.pay(others, 100);
  await site.delivered(others, 100);
  await eventually(async () => expect((await laneOf(dead)).closed_times).toBeGreaterThanOrEqual(3));
  const { closed_times: closedTimes } = await laneOf(dead);
  // What was in flight, and one event for each time it was tried since.
  expect(site.book.of(dead.host).length).toBeLessThanOrEqual(charged + LANE_BOUND + closedTimes);

  site.book.treat(dead.host, () => gate.hold);
  // Whoever replaces a key has the receiver tried at once.
  await site.rotate(dead);
  const atOnce: number[] = [];
  for (const expected of [1, 2, 4, LANE_BOUND]) {
    await eventually(() => expect(gate.held()).toBe(expected), { timeoutMs: 30_000 });
    const { rows } = await site.world.pool.query(
      `select from delivery where merchant_id = $1 and lease_id is not null`,
      [dead.merchantId],
    );
    atOnce.push(rows.length);
    gate.letGo(status(200), 1);
  }
  expect(atOnce).toEqual([1, 2, 4, LANE_BOUND]);
  site.book.treat(dead.host, () => status(200));
  gate.letGo(status(200));
  await site.delivered([dead], BACKLOG, { timeoutMs: 60_000 });
  expect(await laneOf(dead)).toEqual({ failures: 0, closed_times: 0, is_closed: false, recovering_cap: null });
}, 120_000);
