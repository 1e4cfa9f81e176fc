import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { UnmatchedReason } from '@quittance/contracts/payment.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { PaymentRow } from './payment.ts';

/** A row of the ledger: the latest that was observed of a transfer, and what it pays. */
export type TransferRow = {
  network: string;
  transaction_id: string;
  transaction_event_index: number;
  phase: 'seen' | 'confirmed' | 'retracted';
  merchant_id: string;
  block_hash: string;
  block_timestamp: Date;
  /** Canonical addresses. */
  sender: string;
  recipient: string;
  /** Base units of the token, decimal integer text. */
  amount_units: string;
  decimals: number;
  /** What phase and the next three columns come to; see migrations/0001_baseline.sql. */
  match_status: 'matched' | 'pending' | 'unmatched' | 'retracted';
  /** The payment it pays, or is about to. */
  payment_id: string | null;
  related_payment_id: string | null;
  reason: UnmatchedReason | null;
};

export type TransferId = Pick<TransferRow, 'network' | 'transaction_id' | 'transaction_event_index'>;

/** The payment a transfer pays; or the payment it was meant for and why it does not pay it (null: not yet). */
export type Assignment =
  { payment_id: string } | { payment_id: null; related_payment_id: string | null; reason: UnmatchedReason | null };

const idColumns = 'network, transaction_id, transaction_event_index';
/** What a message holds about a transfer, in columns named as its fields, except sender and recipient. */
const observedColumns = `version, phase, merchant_id, block_number, block_hash, block_timestamp, sender, recipient, amount_units,
  decimals, confirmations, confirmations_required, observed_at`;
const transferColumns = `${idColumns}, phase, merchant_id, block_hash, block_timestamp, sender, recipient, amount_units, decimals,
  match_status, payment_id, related_payment_id, reason`;

/** Transfers on the chain that pay nothing, spelled as in the partial index, which serves no other spelling. */
export const paysNothingSql = `match_status in ('pending', 'unmatched')`;

/**
 * Serializes everything that concerns one wallet, on every replica, until the transaction ends. A transfer may free a payment for
 * another transfer, so row locks alone could be taken in opposite orders.
 */
export async function lockWallet(tx: Transaction, network: string, recipient: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0))`, [network, recipient]);
}

/**
 * Writes what was observed of a transfer, keeping what it pays.
 * @returns null when this version, or a newer one, is in the ledger already.
 */
export async function recordTransfer(tx: Transaction, message: TransferObserved): Promise<TransferRow | null> {
  const { from: sender, to: recipient, ...observed } = message;
  const { rows } = await tx.query<TransferRow>(
    `insert into transfer (${idColumns}, ${observedColumns})
     select ${idColumns}, ${observedColumns.replace('observed_at', 'clock_timestamp()')}
       from jsonb_populate_record(null::transfer, $1)
     on conflict (${idColumns}) do update
        set (${observedColumns}) = row(${observedColumns.replace(/\w+/g, 'excluded.$&')})
      where transfer.version < excluded.version
     returning ${transferColumns}`,
    [{ ...observed, sender, recipient }],
  );
  return rows[0] ?? null;
}

/**
 * @param lock keeps the row as it is until the transaction ends. Take a wallet's lock first; it may be another wallet's than the
 *   ledger names, to which a reorg has moved the transfer.
 */
export async function findTransfer(
  db: Queryable,
  id: TransferId,
  lock: 'for update' | '' = '',
): Promise<TransferRow | null> {
  const { rows } = await db.query<TransferRow>(
    `select ${transferColumns} from transfer
      where network = $1 and transaction_id = $2 and transaction_event_index = $3 ${lock}`,
    [id.network, id.transaction_id, id.transaction_event_index],
  );
  return rows[0] ?? null;
}

export async function assignTransfer(tx: Transaction, id: TransferId, assignment: Assignment): Promise<void> {
  const { related_payment_id, reason } =
    assignment.payment_id === null ? assignment : { related_payment_id: null, reason: null };
  await tx.query(
    `update transfer set payment_id = $4, related_payment_id = $5, reason = $6
      where network = $1 and transaction_id = $2 and transaction_event_index = $3`,
    [id.network, id.transaction_id, id.transaction_event_index, assignment.payment_id, related_payment_id, reason],
  );
}

/**
 * Locks the transfers that could pay a payment which is PENDING again: of its exact amount, on the chain, paying nothing.
 * The wallet's lock is not enough: it may be another wallet's, to which a reorg has moved the transfer that is gone.
 * @param amountUnits of the payment in base units of the token.
 * @returns at most ten, confirmed ones first, then in the chain's order.
 */
export async function lockCompetingTransfers(
  tx: Transaction,
  payment: PaymentRow,
  { amountUnits, minedAfter }: { amountUnits: bigint; minedAfter: Date },
): Promise<TransferRow[]> {
  const { rows } = await tx.query<TransferRow>(
    `select ${transferColumns} from transfer
      where network = $1 and recipient = $2 and amount_units = $3 and ${paysNothingSql}
        and block_timestamp > $4 and block_timestamp < $5
      order by phase = 'seen', block_number, transaction_event_index
      limit 10
        for update`,
    [payment.network, payment.recipient, amountUnits, minedAfter, payment.expires_at],
  );
  return rows;
}
