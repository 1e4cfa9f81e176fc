import type { Transaction } from '@quittance/postgres/transaction.ts';
import { merchantConcernedSql, type TransferId } from './transfer.ts';

/** Notices of transfers that pay nothing which one wallet may cause in an hour. */
const NOTICES_AN_HOUR = 60;

/** @returns for each transfer the merchant whom it concerns, if that one chose to be told of transfers that pay nothing, else null. */
export async function findToldMerchants(tx: Transaction, transfers: readonly TransferId[]): Promise<(string | null)[]> {
  const { rows } = await tx.query<{ merchant_id: string | null }>({
    name: 'find-told-merchants',
    text: `
      select gate.merchant_id
        from unnest($1::text[], $2::text[], $3::integer[]) with ordinality
               as wanted (network, transaction_id, transaction_event_index, place)
        join transfer t using (network, transaction_id, transaction_event_index)
        left join gate on gate.merchant_id = ${merchantConcernedSql('t')} and 'TRANSFER_UNMATCHED' = any(gate.webhook_events)
       order by wanted.place`,
    values: [
      transfers.map(({ network }) => network),
      transfers.map(({ transaction_id: id }) => id),
      transfers.map(({ transaction_event_index: index }) => index),
    ],
  });
  return rows.map(({ merchant_id: merchantId }) => merchantId);
}

/**
 * Counts notices of a wallet. The caller has the wallet's lock, so nobody else counts for it.
 * @returns how many of them may be raised.
 */
export async function takeNotices(
  tx: Transaction,
  { network, recipient }: { network: string; recipient: string },
  wanted: number,
): Promise<number> {
  const { rows } = await tx.query<{ taken: number }>(
    `insert into unmatched_notice_window as w (network, recipient, started_at, raised)
     values ($1, $2, now(), least($3::integer, $4::integer))
     on conflict (network, recipient) do update
        set started_at = case when w.started_at <= now() - interval '1 hour' then now() else w.started_at end,
            raised = case when w.started_at <= now() - interval '1 hour' then excluded.raised
                          else least(w.raised + $3::integer, $4::integer) end
     returning new.raised - case when old.started_at > now() - interval '1 hour' then old.raised else 0 end as taken`,
    [network, recipient, wanted, NOTICES_AN_HOUR],
  );
  return rows[0]?.taken ?? 0;
}
