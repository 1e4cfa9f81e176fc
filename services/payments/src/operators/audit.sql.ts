import type { AuditEntry } from '@quittance/contracts/http/audit.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { WithDates } from '@quittance/runtime/time.ts';

type AuditRow = WithDates<AuditEntry, 'at'>;

const ROWS_MAX = 100;

/**
 * What operators did to a merchant's wallets and payments, and how it ended rests itself.
 * @param before only what was done before this time; null for the newest.
 * @returns at most a hundred, newest first.
 */
export async function readAudit(db: Queryable, merchantId: string, before: Date | null): Promise<AuditRow[]> {
  const newest = (at: string, merchant = 'merchant_id'): string =>
    `${merchant} = $1 and ($2::timestamptz is null or ${at} < $2) order by ${at} desc limit ${ROWS_MAX}`;
  const { rows } = await db.query<AuditRow>(
    `(select released_at as at, 'release_wallet' as action, actor, reason,
             jsonb_build_object('wallet', address) as before, jsonb_build_object('wallet', null) as after
        from wallet_release where ${newest('released_at')})
     union all
     (select proven_at, 'prove_wallet', actor, reason, jsonb_build_object('belongs_to', taken_from),
             jsonb_build_object('wallet', address, 'belongs_to', merchant_id)
        from wallet_proof where ${newest('proven_at')})
     union all
     (select proven_at, 'lose_wallet', actor, reason, jsonb_build_object('wallet', address),
             jsonb_build_object('wallet', null, 'proven_by', merchant_id)
        from wallet_proof where ${newest('proven_at', 'taken_from')})
     union all
     (select accepted_at, 'accept_transfer', actor, reason, jsonb_build_object('status', status_before),
             jsonb_build_object('payment_id', payment_id, 'status', 'PAID', 'transaction_id', transaction_id,
                                'transaction_event_index', transaction_event_index)
        from transfer_acceptance where ${newest('accepted_at')})
     union all
     (select cancelled_at, 'cancel_payment', actor, reason, jsonb_build_object('status', 'PENDING'),
             jsonb_build_object('payment_id', payment_id, 'status', 'CANCELLED')
        from payment_cancellation where ${newest('cancelled_at')})
     union all
     (select released_at, 'release_rest', actor, reason, jsonb_build_object('rests', true),
             jsonb_build_object('wallet', address, 'network', network, 'payment_id', payment_id, 'rests', false)
        from wallet_rest_release where ${newest('released_at')})
     union all
     (select moved_at, 'move_pool_key', actor, reason, jsonb_build_object('next_index', from_index),
             jsonb_build_object('network', network, 'next_index', to_index)
        from address_source_move where ${newest('moved_at')})
     union all
     (select resolved_at, 'resolve_incident', resolved_by, resolved_reason, jsonb_build_object('resolved', false),
             jsonb_build_object('incident_id', incident_id, 'payment_id', payment_id, 'resolved', true)
        from incident where resolved_at is not null and ${newest('resolved_at')})
     order by at desc limit ${ROWS_MAX}`,
    [merchantId, before],
  );
  return rows;
}
