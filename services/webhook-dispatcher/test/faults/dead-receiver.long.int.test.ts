import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { status } from '../receiver.ts';
import type { Merchant } from '../world.ts';
import { insertBacklog } from './backlog.ts';
import { openSite, type Site } from './site.ts';
import { createGate } from './visits.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite({ retryDelaysSeconds: '1,1,1,1,1,1,1,1' });
});
afterEach(async () => expect(await site.violations()).toEqual([]));
afterAll(() => site.world.stop());

const BACKLOG = 1_000;
/** The limit of attempts of a lane in flight. */
const LANE_LIMIT = 8;

type LaneRow = { failures: number; circuit_state: string; times_opened: number };

async function laneOf({ merchantId }: Merchant): Promise<LaneRow> {
  const { rows } = await site.world.pool.query<LaneRow>(
    `select failures, circuit_state, times_opened from lane where merchant_id = $1`,
    [merchantId],
  );
  return rows[0]!;
}

test('a dead receiver with a backlog gets few attempts, delays no other receiver, and recovers slowly', async () => {
  const gate = createGate();
  const [dead] = (await site.merchants(1, () => status(503))) as [Merchant];
  const others = await site.merchants(5);
  await insertBacklog(site.world.pool, dead, BACKLOG);
  await eventually(async () => expect((await laneOf(dead)).failures).toBeGreaterThanOrEqual(50));
  // Ten seconds of failures open the circuit.
  await site.world.pool.query(
    `update lane set failing_since = failing_since - interval '10 seconds' where merchant_id = $1`,
    [dead.merchantId],
  );
  await eventually(async () => expect((await laneOf(dead)).times_opened).toBeGreaterThan(0));
  const charged = site.book.of(dead.host).length;

  await site.pay(others, 100);
  await site.delivered(others, 100);
  await eventually(async () => expect((await laneOf(dead)).times_opened).toBeGreaterThanOrEqual(3));
  const { times_opened: timesOpened } = await laneOf(dead);
  // The attempts in flight when it opened, and one probe each time.
  expect(site.book.of(dead.host).length).toBeLessThanOrEqual(charged + LANE_LIMIT + timesOpened);

  site.book.treat(dead.host, () => gate.hold);
  // A new key makes the circuit due for a probe.
  await site.rotate(dead);
  const atOnce: number[] = [];
  for (const expected of [1, 2, 4, LANE_LIMIT]) {
    await eventually(() => expect(gate.held()).toBe(expected));
    const { rows } = await site.world.pool.query(
      `select from delivery where merchant_id = $1 and lease_id is not null`,
      [dead.merchantId],
    );
    atOnce.push(rows.length);
    gate.letGo(status(200), 1);
  }
  expect(atOnce).toEqual([1, 2, 4, LANE_LIMIT]);
  site.book.treat(dead.host, () => status(200));
  gate.letGo(status(200));
  await site.delivered([dead], BACKLOG);
  expect(await laneOf(dead)).toEqual({ failures: 0, circuit_state: 'closed', times_opened: 0 });
});
