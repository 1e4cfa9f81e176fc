import type { Author } from '@quittance/contracts/author.ts';
import type { PaymentStatus, UnmatchedReason } from '@quittance/contracts/payment.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { paymentColumns, type PaymentRow } from './payment.ts';
import type { LedgerTransfer, TransferId, TransferRow } from './transfer.ts';

/** What the chain said of a transfer when it was accepted. */
export type Proof = { block_number: number; block_hash: string; block_timestamp: string; confirmations: number };

/** An operator's decision that a transfer pays a payment: a row of transfer_acceptance, and what the payment asked for. */
export type AcceptanceRow = TransferId &
  Author & {
    payment_id: string;
    merchant_id: string;
    /** The payment's amount as the merchant wrote it. */
    expected_amount: string;
    status_before: PaymentStatus;
    unmatched_reason: UnmatchedReason | null;
    recipient: string;
    /** Base units of the token, decimal integer text. */
    amount_units: string;
    decimals: number;
    block_number: bigint;
    block_hash: string;
    block_timestamp: Date;
    confirmations: number;
    accepted_at: Date;
  };

const acceptanceColumns = `a.payment_id, a.merchant_id, p.amount as expected_amount, a.status_before, a.network, a.transaction_id,
  a.transaction_event_index, a.unmatched_reason, a.recipient, a.amount_units, a.decimals, a.block_number, a.block_hash,
  a.block_timestamp, a.confirmations, a.actor, a.reason, a.accepted_at`;

export async function findPayment(db: Queryable, paymentId: string): Promise<PaymentRow | null> {
  const { rows } = await db.query<PaymentRow>(`select ${paymentColumns} from payment where payment_id = $1`, [
    paymentId,
  ]);
  return rows[0] ?? null;
}

/** @returns the acceptance of this transfer, whichever payment it pays. */
export async function findAcceptance(db: Queryable, id: TransferId): Promise<AcceptanceRow | null> {
  const { rows } = await db.query<AcceptanceRow>(
    `select ${acceptanceColumns} from transfer_acceptance a join payment p using (payment_id)
      where a.network = $1 and transaction_id = $2 and transaction_event_index = $3`,
    [id.network, id.transaction_id, id.transaction_event_index],
  );
  return rows[0] ?? null;
}

export async function findAcceptanceOfPayment(db: Queryable, paymentId: string): Promise<AcceptanceRow | null> {
  const { rows } = await db.query<AcceptanceRow>(
    `select ${acceptanceColumns} from transfer_acceptance a join payment p using (payment_id) where a.payment_id = $1`,
    [paymentId],
  );
  return rows[0] ?? null;
}

/** Whether an operator accepted this transfer, and the chain still has what was accepted. A paid payment then needs nobody's attention. */
export async function isAsAccepted(tx: Transaction, transfer: TransferRow): Promise<boolean> {
  if (transfer.phase === 'retracted') return false;
  const { rowCount } = await tx.query(
    `select from transfer_acceptance
      where network = $1 and transaction_id = $2 and transaction_event_index = $3
        and recipient = $4 and amount_units = $5 and decimals = $6`,
    [
      transfer.network,
      transfer.transaction_id,
      transfer.transaction_event_index,
      transfer.recipient,
      transfer.amount_units,
      transfer.decimals,
    ],
  );
  return rowCount === 1;
}

/**
 * Writes down the decision, and makes the ledger's row pay the payment. The ledger's confirmations are raised to what the chain said:
 * a paid payment would otherwise be shown with too few until the next message.
 * @param payment as it was before it became PAID.
 */
export async function insertAcceptance(
  tx: Transaction,
  { payment, transfer, proof, unmatchedReason, author }: NewAcceptance,
): Promise<void> {
  await tx.query(
    `with paying as (
       update transfer
          set payment_id = $1, related_payment_id = null, reason = null, confirmations = greatest(confirmations, $13)
        where network = $4 and transaction_id = $5 and transaction_event_index = $6)
     insert into transfer_acceptance (payment_id, merchant_id, status_before, network, transaction_id, transaction_event_index,
                                      unmatched_reason, recipient, amount_units, decimals, block_number, block_hash,
                                      confirmations, block_timestamp, actor, reason, accepted_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, clock_timestamp())`,
    [
      payment.payment_id,
      payment.merchant_id,
      payment.status,
      transfer.network,
      transfer.transaction_id,
      transfer.transaction_event_index,
      unmatchedReason,
      transfer.recipient,
      transfer.amount_units,
      transfer.decimals,
      proof.block_number,
      proof.block_hash,
      proof.confirmations,
      proof.block_timestamp,
      author.actor,
      author.reason,
    ],
  );
}

export type NewAcceptance = {
  payment: PaymentRow;
  transfer: LedgerTransfer;
  proof: Proof;
  unmatchedReason: UnmatchedReason | null;
  author: Author;
};
