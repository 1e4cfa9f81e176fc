import type pg from 'pg';
import { eventually } from '@quittance/testkit/eventually.ts';
import { latenciesOf, type Latencies } from './latencies.ts';
import { machineMs } from './machine-clock.ts';
import type { Paid } from './webhook-payer-process.ts';
import type { Paying, WebhookPayer } from './webhook-payer.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

/** From one payment to its event at the merchant; times are `machineMs`. */
export type Journey = {
  /** When the payer learned that it was committed. */
  committedAt: number;
  /** When the dispatcher's transaction that stored the event began. */
  storedAt: number;
  /** When its first POST reached the receiver. */
  arrivedAt: number;
};

/** A slow event is a result; only an event that never arrives is an error. */
const PATIENCE_MS = 600_000;

/** Which stage takes how much of the time. */
export type Stages = { stored: Latencies; sent: Latencies; together: Latencies };

export const stagesOf = (journeys: readonly Journey[]): Stages => ({
  stored: latenciesOf(journeys.map(({ committedAt, storedAt }) => storedAt - committedAt)),
  sent: latenciesOf(journeys.map(({ storedAt, arrivedAt }) => arrivedAt - storedAt)),
  together: latenciesOf(journeys.map(({ committedAt, arrivedAt }) => arrivedAt - committedAt)),
});

/** The dispatcher's database (superuser, search path webhooks), what pays, and where events arrive. */
export type Road = { db: pg.Client; payer: WebhookPayer; receiver: WebhookReceiver };

/**
 * Pays, and waits until every event of these payments is stored as delivered.
 * @throws Error when an event is not, or the receiver did not get it.
 */
export async function payAndFollow(
  { db, payer, receiver }: Road,
  how: Paying,
): Promise<{ journeys: Journey[]; seconds: number }> {
  await receiver.ask('forget');
  const paid = await payer.ask('pay', how);
  const events = await untilDelivered(db, paid);
  const arrivals = await receiver.ask('arrivals');
  const journeys = paid.paymentIds.map((paymentId, position): Journey => {
    const event = events.get(paymentId);
    const arrivedAt = arrivals.get(event?.event_id ?? '');
    if (event === undefined || arrivedAt === undefined) throw new Error(`the event of ${paymentId} did not arrive`);
    return { committedAt: paid.committedAt[position] ?? Number.NaN, storedAt: event.stored_ms - epochMs(), arrivedAt };
  });
  return { journeys, seconds: paid.seconds };
}

/** A machine that delivers this share of a rate carries the rate. */
const CARRIED_SHARE = 0.9;
/** The rate follows from the time of all events, so even a first try that is far too high leads close to it. */
const MOST_TRIES = 4;

/**
 * Pays at the wanted rate, as a warm-up. If the machine falls behind, it tries a rate below what was delivered, and repeats.
 * @returns the highest tried rate, in whole payments a second, at which events were delivered as fast as payments were made.
 */
export async function carriedRate(road: Road, wanted: Paying): Promise<number> {
  let aSecond = wanted.aSecond;
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    const { journeys } = await payAndFollow(road, { ...wanted, aSecond });
    const carried = deliveredASecond(journeys, wanted.durationMs);
    if (carried >= CARRIED_SHARE * aSecond) break;
    aSecond = Math.max(1, Math.floor(CARRIED_SHARE * carried));
  }
  return aSecond;
}

/** Arrivals a second from the first commit until the payments end or the last event arrives, whichever is later. */
function deliveredASecond(journeys: readonly Journey[], durationMs: number): number {
  const from = journeys.reduce((least, { committedAt }) => Math.min(least, committedAt), Infinity);
  const until = journeys.reduce((most, { arrivedAt }) => Math.max(most, arrivedAt), 0);
  return (journeys.length * 1000) / Math.max(durationMs, until - from);
}

type Event = { payment_id: string; event_id: string; stored_ms: number };

async function untilDelivered(db: pg.Client, { paymentIds }: Paid): Promise<Map<string, Event>> {
  const rows = await eventually(
    async () => {
      const { rows } = await db.query<Event>(
        `select payment_id, event_id, extract(epoch from e.created_at)::float8 * 1000 as stored_ms
           from event e join delivery d using (event_id) where payment_id = any($1) and d.status = 'delivered'`,
        [paymentIds],
      );
      if (rows.length < paymentIds.length)
        throw new Error(`${rows.length} of ${paymentIds.length} events were delivered`);
      return rows;
    },
    { timeoutMs: PATIENCE_MS, intervalMs: 250 },
  );
  return new Map(rows.map((row) => [row.payment_id, row]));
}

/**
 * The difference between the time of day and `machineMs`. The time of day has whole milliseconds, so the largest of many differences
 * is the one read just after a new millisecond.
 */
function epochMs(): number {
  offsetMs ??= Math.max(...Array.from({ length: 100_000 }, () => Date.now() - machineMs()));
  return offsetMs;
}

let offsetMs: number | null = null;
