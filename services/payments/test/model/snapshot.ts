import type { Pool } from '@quittance/postgres/pool.ts';
import { canonical } from './steps.ts';
import { REPLY_KEPT } from './rules.ts';
import type { Snapshot } from './state.ts';

/** Which rows are read: those of one run. */
export type Scope = { merchants: readonly string[]; networks: readonly string[]; wallets: readonly string[] };

/** Reads what the service has written for one run, in one statement, as lines that can be compared with snapshotOf(). */
export async function readSnapshot(pool: Pool, scope: Scope, now: number): Promise<Snapshot> {
  const { rows } = await pool.query<Snapshot>({
    name: 'model-snapshot',
    text: `
      select
        array(select concat_ws(' ', payment_id, merchant_id, status, network, recipient, amount, amount_units,
                               ${priced}, ${ms('created_at')},
                               ${ms('expires_at')}, ${ms('paid_at')}, ${ms('cancelled_at')}, ${whole('rest_seconds')}, ${ms('released_at')},
                               ${whole('accept_from_percent')}, coalesce(order_id, '-'), description)
                from payment where merchant_id = any($1)) as payments,
        array(select concat_ws(' ', network, transaction_id, transaction_event_index, version, phase, block_number,
                               ${ms('block_timestamp')}, ${ms('first_seen_at')}, live::text, amount_units, coalesce(payment_id, '-'),
                               coalesce(related_payment_id, '-'),
                               coalesce((select string_agg(id, ',' order by id) from unnest(candidates) as id), '-'),
                               coalesce(reason, '-'), counted::text, case when payment_id is null then notified::text else '-' end)
                from transfer where network = any($2)) as transfers,
        array(select concat_ws(' ', merchant_id, policy_version, webhook_ok::text, used_lifetime, package_base,
                               coalesce(used_day::text, '-'), used_today)
                from gate where merchant_id = any($1)) as gates,
        array(select address || ' ' || merchant_id from wallet where address = any($3)) as wallets,
        array(select concat_ws(' ', merchant_id, idempotency_key, ${ms('created_at')}, convert_from(body, 'UTF8'))
                from idempotent_reply where merchant_id = any($1) and created_at > $4) as replies,
        array(select name || ' ' || body from outbox where merchant_id = any($1)) as messages,
        array(select distinct payment_id from incident where merchant_id = any($1)) as incidents`,
    values: [scope.merchants, scope.networks, scope.wallets, new Date(now - REPLY_KEPT)],
  });
  const read = rows[0];
  if (read === undefined) throw new Error('a select without from answers one row');
  const messages = read.messages.map((message) => {
    const end = message.indexOf(' ');
    const body = JSON.parse(message.slice(end)) as { candidates?: string[] };
    // The contract gives them no order.
    body.candidates?.sort();
    return `${message.slice(0, end)} ${canonical(body)}`;
  });
  const snapshot = { ...read, messages };
  for (const lines of Object.values(snapshot)) lines.sort();
  return snapshot;
}

/** Milliseconds since 1970 as text, `-` for none. */
const ms = (column: string): string => `coalesce((extract(epoch from ${column}) * 1000)::bigint::text, '-')`;

/** The price without the spaces of jsonb, and the rate's value. */
const priced = `coalesce(replace(price::text, ' ', ''), '-'), coalesce(rate ->> 'value', '-')`;

const whole = (column: string): string => `coalesce(${column}::text, '-')`;
