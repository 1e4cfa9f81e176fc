import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withCpu, type CpuCounters } from './measure.ts';
import type { Contender, Measurement } from './rounds.ts';
import { payAndFollow, stagesOf, type Road, type Stages } from './webhook-journeys.ts';
import { insertEvents, insertMerchants, makeMerchants, release } from './webhook-merchants.ts';
import type { Paying } from './webhook-payer.ts';

/** Who shares the dispatcher with the quiet merchants. */
export const neighbourhoods = ['alone', 'with a hanging receiver', 'with a backlog'] as const;
type Neighbourhood = (typeof neighbourhoods)[number];

/**
 * `hangingEvents`: more than the lane of a hanging receiver sends during a measurement. `settleInMs`: until the neighbour's sends
 * have reached their limit.
 */
type NeighbourAmounts = { hangingEvents: number; backlogEvents: number; settleInMs: number };
/** A receiver close by that does some work. */
const BACKLOG_ANSWER_MS = 5;

let neighbours = 0;

/** The same even load on quiet merchants with each neighbour. Latencies are from the commit until the receiver has the event. */
export const neighbourContenders = (
  road: Road,
  how: Paying,
  amounts: NeighbourAmounts,
  counters: CpuCounters,
): Contender[] => neighbourhoods.map((name) => ({ name, measure: () => measure(road, how, amounts, counters, name) }));

export type NeighbourMeasurement = Measurement & { stages: Stages };

async function measure(
  road: Road,
  how: Paying,
  amounts: NeighbourAmounts,
  counters: CpuCounters,
  name: Neighbourhood,
): Promise<NeighbourMeasurement> {
  const leave = await moveIn(road, name, amounts);
  try {
    const { result, cpuUs } = await withCpu(counters, () => payAndFollow(road, how));
    const { journeys, seconds } = result;
    const stages = stagesOf(journeys);
    const { p50, p99 } = stages.together;
    return { units: journeys.length, rate: journeys.length / seconds, p50Ms: p50, p99Ms: p99, cpuUs, stages };
  } finally {
    await leave();
  }
}

/** @returns a function that removes the neighbour's events, so that the next measurement starts with an idle dispatcher. */
async function moveIn(
  { db, receiver }: Road,
  name: Neighbourhood,
  { hangingEvents, backlogEvents, settleInMs }: NeighbourAmounts,
): Promise<() => Promise<void>> {
  neighbours += 1;
  const [neighbour] = makeMerchants(1, `neighbour${neighbours}-`);
  if (neighbour === undefined) throw new Error('no neighbour was made');
  const { merchantId, host } = neighbour;
  if (name !== 'alone') {
    await insertMerchants(db, [neighbour]);
    await receiver.ask('answer', host, name === 'with a backlog' ? BACKLOG_ANSWER_MS : 'never');
    await insertEvents(db, [neighbour], name === 'with a backlog' ? backlogEvents : hangingEvents);
  }
  await db.query('vacuum analyze event, delivery, lane');
  await db.query('checkpoint');
  if (name !== 'alone') await release(db, [neighbour]);
  await delay(settleInMs);
  return async () => {
    await db.query('delete from delivery where merchant_id = $1 and lease_id is null', [merchantId]);
    await receiver.ask('answer', host, 0);
    await eventually(
      async () => {
        await db.query('delete from delivery where merchant_id = $1 and lease_id is null', [merchantId]);
        const { rowCount } = await db.query(`select from delivery where status = 'pending' limit 1`);
        if (rowCount !== 0) throw new Error('the neighbour still has events');
      },
      { timeoutMs: 600_000, intervalMs: 100 },
    );
  };
}
