import type { Author } from '@quittance/contracts/author.ts';
import type { Acceptance } from '@quittance/contracts/http/payments/acceptance.ts';
import type { UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { WithDates } from '@quittance/runtime/time.ts';
import type { PaymentRow } from '../payment/payment.sql.ts';
import type { TransferId, TransferRow } from '../settlement/transfer.sql.ts';

/** What the chain showed of a transfer at the time of its acceptance. */
export type ChainProof = { block_number: number; block_hash: string; block_timestamp: string; confirmations: number };

/** The decision that a transfer pays a payment: a row of transfer_acceptance, and what the payment asked for. */
export type AcceptanceRow = Omit<
  WithDates<Acceptance, 'block_timestamp' | 'accepted_at'>,
  'status' | 'amount' | 'block_number'
> & {
  recipient: string;
  /** Base units of the token, decimal integer text. */
  amount_units: string;
  decimals: number;
  block_number: bigint;
};

const acceptanceColumns = `payment_id, merchant_id, status_before, network, transaction_id, transaction_event_index, unmatched_reason,
  recipient, amount_units, decimals, block_number, block_hash, block_timestamp, confirmations, actor, reason, accepted_at`;

const selectAcceptance = `
  select ${acceptanceColumns.replace(/\w+/g, 'a.$&')}, p.amount as expected_amount
    from transfer_acceptance a join payment p using (payment_id)`;

/** @returns the acceptance of this transfer, whichever payment it pays. */
export async function findAcceptance(db: Queryable, id: TransferId): Promise<AcceptanceRow | null> {
  const { rows } = await db.query<AcceptanceRow>(
    `${selectAcceptance} where a.network = $1 and transaction_id = $2 and transaction_event_index = $3`,
    [id.network, id.transaction_id, id.transaction_event_index],
  );
  return rows[0] ?? null;
}

export async function findAcceptanceOfPayment(db: Queryable, paymentId: string): Promise<AcceptanceRow | null> {
  const { rows } = await db.query<AcceptanceRow>(`${selectAcceptance} where a.payment_id = $1`, [paymentId]);
  return rows[0] ?? null;
}

/** @returns whether the chain still shows what was accepted of this transfer; null when it was not accepted. */
export async function isAcceptedUnchanged(tx: Transaction, transfer: TransferRow): Promise<boolean | null> {
  const { network, transaction_id, transaction_event_index, recipient, amount_units, decimals, phase } = transfer;
  const { rows } = await tx.query<{ is_same: boolean }>(
    `select recipient = $4 and amount_units = $5 and decimals = $6 as is_same from transfer_acceptance
      where network = $1 and transaction_id = $2 and transaction_event_index = $3`,
    [network, transaction_id, transaction_event_index, recipient, amount_units, decimals],
  );
  const [accepted] = rows;
  return accepted === undefined ? null : accepted.is_same && phase !== 'retracted';
}

export type NewAcceptance = {
  /** The payment before it became PAID. */
  payment: PaymentRow;
  transfer: TransferRow;
  proof: ChainProof;
  unmatchedReason: UnmatchedReason | null;
  author: Author;
};

/**
 * Stores the decision, and makes the ledger's row pay the payment. The ledger's confirmations are raised to what the chain showed:
 * otherwise a paid payment would show too few until the next message.
 */
export async function insertAcceptance(
  tx: Transaction,
  { payment, transfer, proof, unmatchedReason, author }: NewAcceptance,
): Promise<void> {
  // Fields that are not columns of transfer_acceptance are left out.
  const acceptance = {
    ...transfer,
    ...proof,
    ...author,
    payment_id: payment.payment_id,
    merchant_id: payment.merchant_id,
    status_before: payment.status,
    unmatched_reason: unmatchedReason,
  };
  await tx.query(
    `with accepted as (select * from jsonb_populate_record(null::transfer_acceptance, $1)),
          paying as (
       update transfer t
          set payment_id = a.payment_id, related_payment_id = null, candidates = null, reason = null, counted = false, notified = true,
              confirmations = greatest(t.confirmations, a.confirmations)
         from accepted a
        where t.network = a.network and t.transaction_id = a.transaction_id
          and t.transaction_event_index = a.transaction_event_index)
     insert into transfer_acceptance (${acceptanceColumns})
     select ${acceptanceColumns.replace('accepted_at', 'clock_timestamp()')} from accepted`,
    [acceptance],
  );
}
