import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { UnmatchedReason } from '@quittance/contracts/payment.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { LAG_ALLOWANCE_MS, secondAfter } from '../windows.ts';
import { paymentColumns, type PaymentRow, type Slot } from './payment.ts';

/** A row of the ledger: what was last said of a transfer, and what it pays. */
export type TransferRow = {
  network: string;
  transaction_id: string;
  transaction_event_index: number;
  phase: 'seen' | 'confirmed' | 'retracted';
  merchant_id: string;
  block_hash: string;
  block_timestamp: Date;
  /** Canonical address. */
  recipient: string;
  /** Base units of the token, decimal integer text. */
  amount_units: string;
  decimals: number;
  /** The payment it pays, or is about to. */
  payment_id: string | null;
};

export type TransferId = Pick<TransferRow, 'network' | 'transaction_id' | 'transaction_event_index'>;

/** A row of the ledger with all that tells whether the transfer may be accepted. */
export type LedgerTransfer = TransferRow & {
  /** Canonical address. */
  sender: string;
  related_payment_id: string | null;
  reason: UnmatchedReason | null;
};

/** What a transfer means: the payment it pays; or the payment it was meant for and why it does not pay it (null: not yet). */
export type Assignment =
  { payment_id: string } | { payment_id: null; related_payment_id: string | null; reason: UnmatchedReason | null };

const transferColumns = `network, transaction_id, transaction_event_index, phase, merchant_id, block_hash, block_timestamp, recipient,
  amount_units, decimals, payment_id`;

/**
 * Has everything that concerns one wallet decided one after the other, on every replica, until the transaction ends. A transfer may
 * free a payment for another transfer, so row locks alone could be taken in opposite orders.
 */
export async function lockWallet(tx: Transaction, network: string, recipient: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0))`, [network, recipient]);
}

/**
 * Writes down what was said of a transfer, keeping what it pays.
 * @returns null when this version, or a newer one, is in the ledger already.
 */
export async function recordTransfer(tx: Transaction, message: TransferObserved): Promise<TransferRow | null> {
  const { rows } = await tx.query<TransferRow>(
    `insert into transfer (network, transaction_id, transaction_event_index, version, phase, merchant_id, block_number, block_hash,
                           block_timestamp, sender, recipient, amount_units, decimals, confirmations, confirmations_required,
                           observed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, clock_timestamp())
     on conflict (network, transaction_id, transaction_event_index) do update
        set version = excluded.version, phase = excluded.phase, merchant_id = excluded.merchant_id,
            block_number = excluded.block_number, block_hash = excluded.block_hash, block_timestamp = excluded.block_timestamp,
            sender = excluded.sender, recipient = excluded.recipient, amount_units = excluded.amount_units,
            decimals = excluded.decimals, confirmations = excluded.confirmations,
            confirmations_required = excluded.confirmations_required, observed_at = excluded.observed_at
      where transfer.version < excluded.version
     returning ${transferColumns}`,
    [
      message.network,
      message.transaction_id,
      message.transaction_event_index,
      message.version,
      message.phase,
      message.merchant_id,
      message.block_number,
      message.block_hash,
      message.block_timestamp,
      message.from,
      message.to,
      message.amount_units,
      message.decimals,
      message.confirmations,
      message.confirmations_required,
    ],
  );
  return rows[0] ?? null;
}

/**
 * @param lock keeps the row as it is until the transaction ends. A wallet's lock must be held before; it may be another wallet's than
 *   the ledger names, to which a reorganisation has moved the transfer.
 */
export async function findLedgerTransfer(
  db: Queryable,
  id: TransferId,
  lock: 'for update' | '' = '',
): Promise<LedgerTransfer | null> {
  const { rows } = await db.query<LedgerTransfer>(
    `select ${transferColumns}, sender, related_payment_id, reason from transfer
      where network = $1 and transaction_id = $2 and transaction_event_index = $3 ${lock}`,
    [id.network, id.transaction_id, id.transaction_event_index],
  );
  return rows[0] ?? null;
}

export async function assignTransfer(tx: Transaction, transfer: TransferRow, assignment: Assignment): Promise<void> {
  const unmatched = assignment.payment_id === null ? assignment : { related_payment_id: null, reason: null };
  await tx.query(
    `update transfer set payment_id = $4, related_payment_id = $5, reason = $6
      where network = $1 and transaction_id = $2 and transaction_event_index = $3`,
    [
      transfer.network,
      transfer.transaction_id,
      transfer.transaction_event_index,
      assignment.payment_id,
      unmatched.related_payment_id,
      unmatched.reason,
    ],
  );
}

/**
 * Locks the payments of a slot that a block of this time can concern: the last one begun by then, and the first one created within
 * the allowance after it. Older ones ended where a newer one began. Two index look-ups, however many payments the slot has had;
 * as an array, because after waiting for a lock PostgreSQL looks at joined rows once more, one by one, and would drop a candidate.
 * @returns at most two, oldest first.
 */
export async function lockSlotPayments(tx: Transaction, slot: Slot, blockTime: Date): Promise<PaymentRow[]> {
  const next = secondAfter(blockTime);
  const { rows } = await tx.query<PaymentRow>({
    name: 'lock-slot-payments',
    text: `
      select ${paymentColumns} from payment
       where payment_id = any(array(
         (select payment_id from payment where network = $1 and recipient = $2 and amount_units = $3 and created_at < $4
           order by created_at desc limit 1)
         union all
         (select payment_id from payment where network = $1 and recipient = $2 and amount_units = $3
                                           and created_at >= $4 and created_at < $5
           order by created_at limit 1)))
       order by created_at, payment_id
       for update`,
    values: [slot.network, slot.recipient, slot.amountUnits, next, new Date(blockTime.getTime() + LAG_ALLOWANCE_MS)],
  });
  return rows;
}

export async function lockPayment(tx: Transaction, paymentId: string): Promise<PaymentRow | null> {
  const { rows } = await tx.query<PaymentRow>(
    `select ${paymentColumns} from payment where payment_id = $1 for update`,
    [paymentId],
  );
  return rows[0] ?? null;
}

/** Looks no further back than this many payments of the merchant for one that a transfer of another amount was meant for. */
const NEIGHBOURS_SEARCHED = 1000;

/** @returns at most 20 payments on the transfer's wallet, of any amount, created before its block (or just after); newest first. */
export async function findNeighbours(db: Queryable, transfer: TransferRow): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>(
    `select * from (
       select ${paymentColumns} from payment where merchant_id = $1 and created_at < $2
        order by created_at desc, payment_id desc limit ${NEIGHBOURS_SEARCHED}) recent
      where network = $3 and recipient = $4
      limit 20`,
    [
      transfer.merchant_id,
      new Date(transfer.block_timestamp.getTime() + LAG_ALLOWANCE_MS),
      transfer.network,
      transfer.recipient,
    ],
  );
  return rows;
}

/**
 * Locks the transfers that could pay a payment which is waiting again: of its exact amount, still in the chain, paying nothing.
 * The wallet's lock is not enough: it may be another wallet's, to which a reorganisation has moved the transfer that is gone.
 * @param amountUnits of the payment in base units of the token.
 * @returns at most ten, confirmed ones first, then in the chain's order.
 */
export async function lockRivals(tx: Transaction, payment: PaymentRow, amountUnits: bigint): Promise<TransferRow[]> {
  const { rows } = await tx.query<TransferRow>(
    `select ${transferColumns} from transfer
      where network = $1 and recipient = $2 and amount_units = $3 and payment_id is null and phase <> 'retracted'
        and block_timestamp > $4 and block_timestamp < $5
      order by phase = 'seen', block_number, transaction_event_index
      limit 10
        for update`,
    [
      payment.network,
      payment.recipient,
      amountUnits,
      new Date(payment.created_at.getTime() - LAG_ALLOWANCE_MS),
      payment.expires_at,
    ],
  );
  return rows;
}
