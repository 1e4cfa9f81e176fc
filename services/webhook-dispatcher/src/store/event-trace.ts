import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { isSampled, tracer } from '@quittance/runtime/tracing/tracing.ts';

/** The trace that an event's attempts belong to. `since` is when the event was written. */
export type EventTrace = { traceparent: string; since: Date };

/** Retries end after some days. No trace store still has the first spans of an event that is retried by hand much later. */
const KEPT_DAYS = 30;
/** Old rows deleted with each new one. More are deleted than inserted, so the table stays small. */
const DELETED_PER_INSERT = 5;

/** Stores the traces that are exported, of those events that were stored just now. */
export async function insertEventTraces(
  tx: Transaction,
  events: readonly { eventId: string; traceparent?: string | null }[],
): Promise<void> {
  const traced = events.filter(({ traceparent }) => typeof traceparent === 'string' && isSampled(traceparent));
  if (traced.length === 0) return;
  await tx.query(
    `insert into event_trace (event_id, traceparent)
     select event_id, traceparent from unnest($1::text[], $2::text[]) as t(event_id, traceparent) join event using (event_id)
     on conflict do nothing`,
    [traced.map(({ eventId }) => eventId), traced.map(({ traceparent }) => traceparent)],
  );
  await tx.query(
    `with past as materialized (
       select event_id from event_trace where written_at < now() - make_interval(days => $1)
       order by written_at limit $2
       for update skip locked
     )
     delete from event_trace using past where event_trace.event_id = past.event_id`,
    [KEPT_DAYS, traced.length * DELETED_PER_INSERT],
  );
}

/**
 * Adds their traces to claimed deliveries. A separate statement keeps the claim as it is where nothing is traced. It never fails,
 * because what is claimed has to be sent with or without its trace.
 */
export async function withTraces<D extends { event_id: string }>(
  db: Queryable,
  deliveries: D[],
): Promise<(D & { trace?: EventTrace })[]> {
  if (tracer() === null || deliveries.length === 0) return deliveries;
  const { rows } = await db
    .query<{ event_id: string; traceparent: string; since: Date }>(
      'select event_id, traceparent, written_at as since from event_trace where event_id = any($1)',
      [deliveries.map((delivery) => delivery.event_id)],
    )
    .catch(() => ({ rows: [] }));
  const traces = new Map(rows.map(({ event_id, ...trace }) => [event_id, trace]));
  return deliveries.map((delivery) => {
    const trace = traces.get(delivery.event_id);
    return trace === undefined ? delivery : { ...delivery, trace };
  });
}
