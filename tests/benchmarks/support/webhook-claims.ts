import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createHostCircuits } from '../../../services/webhook-dispatcher/src/lanes/host-circuits.ts';
import {
  createInFlightLimits,
  type Place,
  limits,
  laneCircuitPolicy,
} from '../../../services/webhook-dispatcher/src/lanes/in-flight-limits.ts';
import { outcomeOf } from '../../../services/webhook-dispatcher/src/events/outcome.ts';
import {
  claimDeliveries,
  type Claimed,
  settleAttempts,
  type Outcome,
} from '../../../services/webhook-dispatcher/src/lanes/claim.sql.ts';
import { latenciesOf, type Latencies } from './latencies.ts';

/** The size of a claim: all places of a process, or the places that the settling of one batch freed. */
export const rooms = { 'all room free': 1_024, 'a batch was settled': 100 } as const;
export type RoomName = keyof typeof rooms;

/** Durations of one measurement. `roundTrip`: of `select 1`, which shows how busy the machine was. */
export type ClaimStretch = { claim: Latencies; settle: Latencies; roundTrip: Latencies; claimed: number };

const SETTLED_AT_ONCE = 100;
/** Later than the benchmark ends. */
const retryDelaysSeconds = Array<number>(9).fill(3_600);

export type Claims = {
  /** Claims `times` times and settles what was claimed: alternately delivered, and to be retried in an hour. */
  claim(room: RoomName, times: number): Promise<ClaimStretch>;
  close(): Promise<void>;
};

/** @param url of the dispatcher's role. */
export function startClaims(url: string): Claims {
  const pool = createPool({ url, schema: 'webhooks', max: 4, applicationName: 'benchmark', logger: testLogger });
  return { claim: (room, times) => claimAndSettle(pool, rooms[room], times), close: () => pool.end() };
}

async function claimAndSettle(pool: Pool, room: number, times: number): Promise<ClaimStretch> {
  const ms = { claim: [] as number[], settle: [] as number[], roundTrip: [] as number[] };
  // The deliver loop's own accounting of attempts in flight, so that claims have the same arguments.
  const inFlightLimits = createInFlightLimits(limits, createHostCircuits({ recoveredAt: limits.host }), () =>
    performance.now(),
  );
  const inFlight: { delivery: Claimed; place: Place | null }[] = [];
  let total = 0;
  const claim = async (limit: number): Promise<Claimed[]> => {
    const free = inFlightLimits.claimBounds();
    const { claimed } = await claimDeliveries(pool, { ...free, room: Math.min(limit, free.room), leaseSeconds: 45 });
    return claimed;
  };
  const begin = (claimed: Claimed[]): void => {
    inFlight.push(...claimed.map((delivery) => ({ delivery, place: inFlightLimits.acquire(delivery) })));
  };
  const settle = async (count: number): Promise<void> => {
    for (let left = Math.min(count, inFlight.length); left > 0; left -= SETTLED_AT_ONCE) {
      const batch = inFlight.splice(0, Math.min(left, SETTLED_AT_ONCE));
      await timed(ms.settle, () =>
        settleAttempts(
          pool,
          batch.map(({ delivery }, n) => outcome(delivery, n)),
          laneCircuitPolicy,
        ),
      );
      for (const { place } of batch) {
        place?.ended(true);
        place?.release();
      }
    }
  };
  // Deliveries claimed before that are still in flight, so that only the requested room is free.
  if (room < limits.process) begin(await claim(limits.process - room));
  for (let time = 0; time < times; time += 1) {
    await timed(ms.roundTrip, () => pool.query('select 1'));
    const claimed = await timed(ms.claim, () => claim(limits.process));
    if (claimed.length === 0) throw new Error(`nothing was due any more after ${time} claims`);
    total += claimed.length;
    begin(claimed);
    await settle(room);
  }
  await settle(limits.process);
  const { claim: claims, settle: settles, roundTrip } = ms;
  return {
    claim: latenciesOf(claims),
    settle: latenciesOf(settles),
    roundTrip: latenciesOf(roundTrip),
    claimed: total,
  };
}

async function timed<T>(durations: number[], run: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await run();
  durations.push(performance.now() - startedAt);
  return result;
}

function outcome(delivery: Claimed, position: number): Outcome {
  const delivered = position % 2 === 0;
  const result = {
    errorCategory: delivered ? null : ('http_5xx' as const),
    httpStatus: delivered ? 200 : 503,
    ...{ retryAfterSeconds: null, durationMs: 12, isComplete: true, remoteAddress: '8.8.8.8', errorCode: null },
  };
  return outcomeOf(delivery, result, { startedAt: new Date(), retryDelaysSeconds, random: 0.5, pace: 'quick' });
}
