import type { Pool } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { isSampled, tracer } from '@quittance/runtime/tracing/tracing.ts';
import type { Claimed } from './claim.ts';
import type { NewEvent } from './event.ts';

/** What an event's attempts belong to. `since` is when the event was written. */
export type EventTrace = { traceparent: string; since: Date };

/** Retries end after some days. What somebody asks for much later is linked to nothing: no store of traces has the first ones still. */
const KEPT_DAYS = 30;
/** So many rows of the past go with each new one: more than come, so the table stays as small as what it is about. */
const FORGET_FOR_EACH = 5;

/** Keeps the traces of those events that were stored just now and whose trace is exported. */
export async function insertEventTraces(tx: Transaction, events: readonly NewEvent[]): Promise<void> {
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
    [KEPT_DAYS, traced.length * FORGET_FOR_EACH],
  );
}

/**
 * A statement of its own, so that claiming stays as it is where nothing is traced. It never fails: what was claimed has to be sent,
 * with its trace or without.
 */
export async function withTraces(pool: Pool, claimed: Claimed[]): Promise<Claimed[]> {
  if (tracer() === null || claimed.length === 0) return claimed;
  const traces = await readTraces(
    pool,
    claimed.map((delivery) => delivery.event_id),
  ).catch(() => new Map<string, EventTrace>());
  if (traces.size === 0) return claimed;
  return claimed.map((delivery) => {
    const trace = traces.get(delivery.event_id);
    return trace === undefined ? delivery : { ...delivery, trace };
  });
}

async function readTraces(pool: Pool, eventIds: readonly string[]): Promise<Map<string, EventTrace>> {
  const { rows } = await pool.query<{ event_id: string; traceparent: string; written_at: Date }>(
    'select event_id, traceparent, written_at from event_trace where event_id = any($1)',
    [eventIds],
  );
  return new Map(rows.map((row) => [row.event_id, { traceparent: row.traceparent, since: row.written_at }]));
}
