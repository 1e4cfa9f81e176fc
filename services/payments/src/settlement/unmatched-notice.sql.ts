import type { Transaction } from '@quittance/postgres/transaction.ts';
import { candidatesSql, merchantsConcernedSql, type TransferId } from './transfer.sql.ts';

/** The maximum number of notices of unmatched transfers for one wallet in an hour. */
const NOTICES_AN_HOUR = 60;

/** A merchant to notify of a transfer; `place` is the transfer's position. */
type Notified = {
  place: number;
  merchant_id: string;
  /** The merchant's own payments that the transfer may be for, the most probable one first. */
  candidates: string[];
  /** Whether another merchant has one. */
  elsewhere: boolean;
};

/** @returns for each transfer the merchants it concerns who subscribe to unmatched transfers. */
export async function findNotified(tx: Transaction, transfers: readonly TransferId[]): Promise<Notified[]> {
  const { rows } = await tx.query<Notified>({
    name: 'find-notified',
    text: `
      select (wanted.place - 1)::integer as place, gate.merchant_id,
             array(select p.payment_id from unnest(${candidatesSql('t')}) with ordinality as c (id, nearness)
                     join payment p on p.payment_id = c.id and p.merchant_id = gate.merchant_id order by nearness) as candidates,
             exists (select from payment p where p.payment_id = any (${candidatesSql('t')}) and p.merchant_id <> gate.merchant_id)
               as elsewhere
        from unnest($1::text[], $2::text[], $3::integer[]) with ordinality
               as wanted (network, transaction_id, transaction_event_index, place)
        join transfer t using (network, transaction_id, transaction_event_index)
        join gate on gate.merchant_id = any (${merchantsConcernedSql('t')}) and 'TRANSFER_UNMATCHED' = any(gate.webhook_events)
       order by wanted.place, gate.merchant_id`,
    values: [
      transfers.map(({ network }) => network),
      transfers.map(({ transaction_id: id }) => id),
      transfers.map(({ transaction_event_index: index }) => index),
    ],
  });
  return rows;
}

/**
 * Counts notices of a wallet. The caller holds the wallet's lock, so no other transaction counts for it.
 * @returns how many of them may be sent.
 */
export async function takeNotices(
  tx: Transaction,
  { network, recipient }: { network: string; recipient: string },
  wanted: number,
): Promise<number> {
  const { rows } = await tx.query<{ taken: number }>(
    `with before as (
       select raised from unmatched_notice_window
        where network = $1 and recipient = $2 and started_at > now() - interval '1 hour'
     )
     insert into unmatched_notice_window as w (network, recipient, started_at, raised)
     values ($1, $2, now(), least($3::integer, $4::integer))
     on conflict (network, recipient) do update
        set started_at = case when w.started_at <= now() - interval '1 hour' then now() else w.started_at end,
            raised = case when w.started_at <= now() - interval '1 hour' then excluded.raised
                          else least(w.raised + $3::integer, $4::integer) end
     returning w.raised - coalesce((select raised from before), 0) as taken`,
    [network, recipient, wanted, NOTICES_AN_HOUR],
  );
  return rows[0]?.taken ?? 0;
}
