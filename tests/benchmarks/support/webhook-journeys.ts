import type pg from 'pg';
import { eventually } from '@quittance/testkit/eventually.ts';
import { latenciesOf, type Latencies } from './latencies.ts';
import { machineMs } from './machine-clock.ts';
import type { Paid, Paying, WebhookPayer } from './webhook-payer.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

/** One payment on its way to the merchant; `machineMs`. */
export type Journey = {
  /** When payments knew that it was committed. */
  committedAt: number;
  /** When the dispatcher's transaction that stored the event began. */
  heardAt: number;
  /** When its first POST reached the receiver. */
  arrivedAt: number;
};

/** Falling behind is a result; only never arriving is none. */
const PATIENCE_MS = 600_000;

/** Where the time of journeys goes. */
export type Stages = { heard: Latencies; sent: Latencies; together: Latencies };

export const stagesOf = (journeys: readonly Journey[]): Stages => ({
  heard: latenciesOf(journeys.map(({ committedAt, heardAt }) => heardAt - committedAt)),
  sent: latenciesOf(journeys.map(({ heardAt, arrivedAt }) => arrivedAt - heardAt)),
  together: latenciesOf(journeys.map(({ committedAt, arrivedAt }) => arrivedAt - committedAt)),
});

/** The dispatcher's database (superuser, search path webhooks), what pays, and where events arrive. */
export type Road = { db: pg.Client; payer: WebhookPayer; receiver: WebhookReceiver };

/**
 * Pays, and waits until every event of these payments is on record as delivered.
 * @throws Error when an event never is, or was not seen by the receiver.
 */
export async function payAndFollow(
  { db, payer, receiver }: Road,
  how: Paying,
): Promise<{ journeys: Journey[]; seconds: number }> {
  await receiver.forget();
  const paid = await payer.pay(how);
  const events = await untilDelivered(db, paid);
  const arrivals = await receiver.arrivals();
  const journeys = paid.paymentIds.map((paymentId, position): Journey => {
    const event = events.get(paymentId);
    const arrivedAt = arrivals.get(event?.event_id ?? '');
    if (event === undefined || arrivedAt === undefined) throw new Error(`the event of ${paymentId} did not arrive`);
    return { committedAt: paid.committedAt[position] ?? Number.NaN, heardAt: event.heard_ms - epochMs(), arrivedAt };
  });
  return { journeys, seconds: paid.seconds };
}

type Event = { payment_id: string; event_id: string; heard_ms: number };

async function untilDelivered(db: pg.Client, { paymentIds }: Paid): Promise<Map<string, Event>> {
  const rows = await eventually(
    async () => {
      const { rows } = await db.query<Event>(
        `select payment_id, event_id, extract(epoch from e.created_at)::float8 * 1000 as heard_ms
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
 * What has to be taken from a time of day to have `machineMs`. The clock of day is read in whole milliseconds: the largest of many
 * differences is the one read just after it had turned.
 */
function epochMs(): number {
  offsetMs ??= Math.max(...Array.from({ length: 100_000 }, () => Date.now() - machineMs()));
  return offsetMs;
}

let offsetMs: number | null = null;
