import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { UnmatchedReason } from '@quittance/contracts/payment.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { PaymentRow } from './payment.ts';
import { provenOwnerSql } from './wallet.ts';

/** A row of the ledger: the latest that was observed of a transfer, and what it pays. */
export type TransferRow = {
  network: string;
  transaction_id: string;
  transaction_event_index: number;
  phase: 'seen' | 'confirmed' | 'retracted';
  /** For whom its wallet was watched when chain-watcher published it. */
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
  | { payment_id: string }
  | { payment_id: null; related_payment_id: string | null; reason: UnmatchedReason | null };

const idColumns = 'network, transaction_id, transaction_event_index';
/** What a message holds about a transfer, in columns named as its fields, except sender and recipient. */
const observedColumns = `version, phase, merchant_id, block_number, block_hash, block_timestamp, sender, recipient, amount_units,
  decimals, confirmations, confirmations_required, observed_at`;
const assignmentColumns = 'payment_id, related_payment_id, reason';
const transferColumns = `${idColumns}, phase, merchant_id, block_hash, block_timestamp, sender, recipient, amount_units, decimals,
  match_status, ${assignmentColumns}`;

/** Transfers on the chain that pay nothing, spelled as in the partial index, which serves no other spelling. */
export const paysNothingSql = `match_status in ('pending', 'unmatched')`;

/**
 * Serializes everything that concerns these wallets, on every replica, until the transaction ends. A transfer may free a payment for
 * another transfer, so row locks alone could be taken in opposite orders. Wallets are locked in one order everywhere, so that two
 * transactions with the same ones do not deadlock.
 */
export async function lockWallets(
  tx: Transaction,
  wallets: readonly { network: string; recipient: string }[],
): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(key) from (
       select distinct hashtextextended(network || ' ' || recipient, 0) as key
         from unnest($1::text[], $2::text[]) as wallet (network, recipient) order by key) ordered`,
    [wallets.map(({ network }) => network), wallets.map(({ recipient }) => recipient)],
  );
}

/**
 * As lockWallets(), without waiting.
 * @returns those that another transaction has locked.
 */
export async function tryLockWallets(
  tx: Transaction,
  wallets: readonly { network: string; recipient: string }[],
): Promise<{ network: string; recipient: string }[]> {
  const { rows } = await tx.query<{ network: string; recipient: string }>(
    `select network, recipient from unnest($1::text[], $2::text[]) as wallet (network, recipient)
      where not pg_try_advisory_xact_lock(hashtextextended(network || ' ' || recipient, 0))`,
    [wallets.map(({ network }) => network), wallets.map(({ recipient }) => recipient)],
  );
  return rows;
}

/** Locks those of these transfers that the ledger has, in the order in which rows are written. */
export async function lockRecorded(tx: Transaction, ids: readonly TransferId[]): Promise<TransferRow[]> {
  const { rows } = await tx.query<TransferRow>({
    name: 'lock-recorded',
    text: `
      select ${transferColumns} from transfer
       where (${idColumns}) in (select * from unnest($1::text[], $2::text[], $3::integer[]))
       order by ${idColumns}
         for update`,
    values: [
      ids.map(({ network }) => network),
      ids.map(({ transaction_id: id }) => id),
      ids.map(({ transaction_event_index: index }) => index),
    ],
  });
  return rows;
}

/**
 * Writes what was observed of transfers, keeping what they pay. Rows are written in one order everywhere, so that two transactions
 * with the same transfers do not deadlock.
 * @param messages one for each transfer.
 * @returns the transfers, without those of which the ledger has this version or a newer one.
 */
export async function recordTransfers(tx: Transaction, messages: readonly TransferObserved[]): Promise<TransferRow[]> {
  const { rows } = await tx.query<TransferRow>({
    name: 'record-transfers',
    text: `
      insert into transfer (${idColumns}, ${observedColumns})
      select ${idColumns}, ${observedColumns.replace('observed_at', 'clock_timestamp()')}
        from jsonb_populate_recordset(null::transfer, $1)
       order by ${idColumns}
      on conflict (${idColumns}) do update
         set (${observedColumns}) = row(${observedColumns.replace(/\w+/g, 'excluded.$&')})
       where transfer.version < excluded.version
      returning ${transferColumns}`,
    values: [JSON.stringify(messages.map(toColumns))],
  });
  return rows;
}

const toColumns = ({ from: sender, to: recipient, ...rest }: TransferObserved) => ({ ...rest, sender, recipient });

/** The row of a transfer that the ledger does not have yet. */
export const unrecorded = (message: TransferObserved): TransferRow => ({
  network: message.network,
  transaction_id: message.transaction_id,
  transaction_event_index: message.transaction_event_index,
  phase: message.phase,
  merchant_id: message.merchant_id,
  block_hash: message.block_hash,
  block_timestamp: new Date(message.block_timestamp),
  sender: message.from,
  recipient: message.to,
  amount_units: message.amount_units,
  decimals: message.decimals,
  match_status: message.phase === 'retracted' ? 'retracted' : 'unmatched',
  payment_id: null,
  related_payment_id: null,
  reason: null,
});

/**
 * Writes transfers that the ledger does not have with what they pay: once, where to record and then to assign them would write each of
 * them, and its index entries, twice.
 * @returns those that were written; another transaction has written the others meanwhile.
 */
export async function insertTransfers(
  tx: Transaction,
  transfers: readonly { message: TransferObserved; assignment: Assignment }[],
): Promise<TransferId[]> {
  const { rows } = await tx.query<TransferId>({
    name: 'insert-transfers',
    text: `
      insert into transfer (${idColumns}, ${observedColumns}, ${assignmentColumns})
      select ${idColumns}, ${observedColumns.replace('observed_at', 'clock_timestamp()')}, ${assignmentColumns}
        from jsonb_populate_recordset(null::transfer, $1)
       order by ${idColumns}
      on conflict (${idColumns}) do nothing
      returning ${idColumns}`,
    values: [JSON.stringify(transfers.map(({ message, assignment }) => ({ ...toColumns(message), ...assignment })))],
  });
  return rows;
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

/**
 * The merchant whom a transfer that pays nothing concerns: whose payment the ledger relates it to. Only of a transfer that is related
 * to none it is the one who had proven its wallet by then, or else the one for whom the wallet is watched; merchants may share a wallet,
 * and then that is whoever used it last.
 * @param transfer alias of the transfer's row.
 */
export const merchantConcernedSql = (transfer: string): string =>
  `coalesce((select related.merchant_id from payment related where related.payment_id = ${transfer}.related_payment_id),
            ${provenOwnerSql(transfer)},
            ${transfer}.merchant_id)`;

/** See merchantConcernedSql(). */
export async function findMerchantConcerned(db: Queryable, id: TransferId): Promise<string> {
  const { rows } = await db.query<{ merchant_id: string }>(
    `select ${merchantConcernedSql('t')} as merchant_id from transfer t
      where network = $1 and transaction_id = $2 and transaction_event_index = $3`,
    [id.network, id.transaction_id, id.transaction_event_index],
  );
  if (rows[0] === undefined) throw new Error(`transfer ${id.transaction_id} is missing from the ledger`);
  return rows[0].merchant_id;
}

export async function assignTransfers(
  tx: Transaction,
  assigned: readonly { transfer: TransferId; assignment: Assignment }[],
): Promise<void> {
  const rows = assigned.map(({ transfer: { network, transaction_id, transaction_event_index }, assignment }) => ({
    network,
    transaction_id,
    transaction_event_index,
    related_payment_id: null,
    reason: null,
    ...assignment,
  }));
  await tx.query({
    name: 'assign-transfers',
    text: `
      update transfer as t
         set payment_id = a.payment_id, related_payment_id = a.related_payment_id, reason = a.reason
        from jsonb_populate_recordset(null::transfer, $1) as a
       where t.network = a.network and t.transaction_id = a.transaction_id
         and t.transaction_event_index = a.transaction_event_index`,
    values: [JSON.stringify(rows)],
  });
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
