import type { TransferObserved } from '@quittance/contracts/messages.ts';
import type { UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { PaymentRow } from '../payment/payment.sql.ts';
import { provenOwnerSql } from '../wallets/wallet.sql.ts';

/** A row of the ledger: the latest observation of a transfer, and what it pays. */
export type TransferRow = {
  network: string;
  transaction_id: string;
  transaction_event_index: number;
  phase: 'seen' | 'confirmed' | 'retracted';
  /** The merchant that its wallet was watched for when chain-watcher published it. */
  merchant_id: string;
  block_hash: string;
  block_timestamp: Date;
  /** The earliest first reading that chain-watcher has published, and whether it was reading without a gap then. Null: not known. */
  first_seen_at: Date | null;
  live: boolean;
  /**
   * Whether it doesn't pay automatically yet, because only an acceptance has brought it here. chain-watcher has not reported when it first
   * read it, and that may have been before the payment was created.
   */
  is_held: boolean;
  /** Canonical addresses. */
  sender: string;
  recipient: string;
  /** Base units of the token, decimal integer text. */
  amount_units: string;
  decimals: number;
  /** Derived from phase and the next three columns; see migrations/0001_baseline.sql. */
  match_status: 'matched' | 'pending' | 'unmatched' | 'retracted';
  /** The payment it pays, or is about to pay. */
  payment_id: string | null;
  /** The only payment that an unmatched transfer may be for; when there are several, they are in `candidates`. */
  related_payment_id: string | null;
  candidates: string[] | null;
  reason: UnmatchedReason | null;
  /** Whether it is one of several transfers that have paid `related_payment_id` together. */
  counted: boolean;
  /** Whether everyone to be notified of an unmatched transfer has been, or nobody has to be. */
  notified: boolean;
};

export type TransferId = Pick<TransferRow, 'network' | 'transaction_id' | 'transaction_event_index'>;

/** The payment a transfer pays; or the payments it may be for and why it does not pay (null: not yet, or there are none). */
export type Assignment =
  | { payment_id: string }
  | ({ payment_id: null } & Pick<TransferRow, 'related_payment_id' | 'candidates' | 'reason'>);

const idColumns = 'network, transaction_id, transaction_event_index';
/** A message's fields of a transfer, in columns with the same names, except sender and recipient. */
const observedColumns = `version, phase, merchant_id, block_number, block_hash, block_timestamp, sender, recipient, amount_units,
  decimals, confirmations, confirmations_required, observed_at`;
/** The earliest published first reading counts. Earlier releases recorded the time of storing it. */
const readingColumns = 'first_seen_at, live';
const newReading = 'coalesce(first_seen_at, clock_timestamp()), live';
const readingOf = (row: string) => `coalesce(${row}first_seen_at, ${row}observed_at)`;
const assignmentColumns = 'payment_id, related_payment_id, candidates, reason, counted, notified';
const transferColumns = `${idColumns}, phase, merchant_id, block_hash, block_timestamp, ${readingOf('')} as first_seen_at, live, version = 0 as is_held, sender, recipient,
  amount_units, decimals, match_status, ${assignmentColumns}`;

/** Transfers on the chain that pay nothing; the first condition is written as in the partial index, which matches no other form. */
export const paysNothingSql = `match_status in ('pending', 'unmatched') and not counted`;

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
 * Like lockWallets(), without waiting.
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
 * Writes observations of transfers without changing what they pay. Rows are written in one order everywhere, so that two transactions with
 * the same transfers do not deadlock.
 * @param messages one for each transfer.
 * @returns the transfers, without those of which the ledger has this version or a newer one.
 */
export async function recordTransfers(tx: Transaction, messages: readonly TransferObserved[]): Promise<TransferRow[]> {
  const { rows } = await tx.query<TransferRow>({
    name: 'record-transfers',
    text: `
      insert into transfer (${idColumns}, ${observedColumns}, ${readingColumns}, notified)
      select ${idColumns}, ${observedColumns.replace('observed_at', 'clock_timestamp()')}, ${newReading}, false
        from jsonb_populate_recordset(null::transfer, $1)
       order by ${idColumns}
      on conflict (${idColumns}) do update
         set (${observedColumns}) = row(${observedColumns.replace(/\w+/g, 'excluded.$&')}),
             first_seen_at = least(${readingOf('transfer.')}, excluded.first_seen_at),
             live = case when excluded.first_seen_at < ${readingOf('transfer.')} then excluded.live else transfer.live end
       where transfer.version < excluded.version
      returning ${transferColumns}`,
    values: [JSON.stringify(messages.map(toColumns))],
  });
  return rows;
}

const toColumns = ({ from: sender, to: recipient, live = false, ...rest }: TransferObserved) => ({
  ...rest,
  sender,
  recipient,
  live,
});

/** The row of a transfer that the ledger does not have yet. */
export const unrecorded = (message: TransferObserved): TransferRow => ({
  network: message.network,
  transaction_id: message.transaction_id,
  transaction_event_index: message.transaction_event_index,
  phase: message.phase,
  merchant_id: message.merchant_id,
  block_hash: message.block_hash,
  block_timestamp: new Date(message.block_timestamp),
  first_seen_at: message.first_seen_at === undefined ? null : new Date(message.first_seen_at),
  live: message.live ?? false,
  is_held: message.version === 0,
  sender: message.from,
  recipient: message.to,
  amount_units: message.amount_units,
  decimals: message.decimals,
  match_status: message.phase === 'retracted' ? 'retracted' : 'unmatched',
  payment_id: null,
  ...nothing,
  notified: false,
});

const nothing = { related_payment_id: null, candidates: null, reason: null, counted: false };

/**
 * Writes transfers that the ledger does not have together with what they pay. Recording and then assigning them would write each row, and
 * its index entries, twice.
 * @returns the rows that were written; another transaction has written the others in the meantime.
 */
export async function insertTransfers(
  tx: Transaction,
  transfers: readonly { message: TransferObserved; assignment: Assignment; notified: boolean }[],
): Promise<TransferId[]> {
  const { rows } = await tx.query<TransferId>({
    name: 'insert-transfers',
    text: `
      insert into transfer (${idColumns}, ${observedColumns}, ${readingColumns}, ${assignmentColumns})
      select ${idColumns}, ${observedColumns.replace('observed_at', 'clock_timestamp()')}, ${newReading}, ${assignmentColumns}
        from jsonb_populate_recordset(null::transfer, $1)
       order by ${idColumns}
      on conflict (${idColumns}) do nothing
      returning ${idColumns}`,
    values: [
      JSON.stringify(
        transfers.map(({ message, assignment, notified }) => ({
          ...toColumns(message),
          ...nothing,
          ...assignment,
          notified,
        })),
      ),
    ],
  });
  return rows;
}

/**
 * @param lock locks the row until the transaction ends. Take a wallet's lock first. It may be a wallet other than the ledger names, because
 *   a reorg may have moved the transfer.
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
 * The payments that an unmatched transfer may be for.
 * @param transfer alias of the transfer's row.
 */
export const candidatesSql = (transfer: string): string =>
  `coalesce(${transfer}.candidates, array_remove(array[${transfer}.related_payment_id], null))`;

/**
 * The merchants that an unmatched transfer concerns, as an array: those whose payments it may be for. If there are none, the merchant who
 * had proven its wallet by then; otherwise the one the wallet is watched for. When merchants share a wallet, that is the one who used it
 * last.
 * @param transfer alias of the transfer's row.
 */
export const merchantsConcernedSql = (transfer: string): string =>
  `coalesce(nullif(array(select distinct candidate.merchant_id from payment candidate
                          where candidate.payment_id = any (${candidatesSql(transfer)}) order by 1), '{}'),
            array[coalesce(${provenOwnerSql(transfer)}, ${transfer}.merchant_id)])`;

export async function assignTransfers(
  tx: Transaction,
  assigned: readonly { transfer: TransferId; assignment: Assignment; notified: boolean }[],
): Promise<void> {
  const rows = assigned.map(({ transfer, assignment, notified }) => ({
    network: transfer.network,
    transaction_id: transfer.transaction_id,
    transaction_event_index: transfer.transaction_event_index,
    ...nothing,
    ...assignment,
    notified,
  }));
  await tx.query({
    name: 'assign-transfers',
    text: `
      update transfer as t
         set (${assignmentColumns}) = row(${assignmentColumns.replace(/\w+/g, 'a.$&')})
        from jsonb_populate_recordset(null::transfer, $1) as a
       where t.network = a.network and t.transaction_id = a.transaction_id
         and t.transaction_event_index = a.transaction_event_index`,
    values: [JSON.stringify(rows)],
  });
}

/** @returns how many unmatched transfers may be for each of these payments, without payments that have none. */
export async function countCandidates(tx: Transaction, paymentIds: readonly string[]): Promise<Map<string, number>> {
  if (paymentIds.length === 0) return new Map();
  const { rows } = await tx.query<{ payment_id: string; transfers: number }>(
    `select asked.payment_id, count(*)::integer as transfers
       from unnest($1::text[]) as asked (payment_id), lateral (
        select from transfer where related_payment_id = asked.payment_id and match_status = 'unmatched'
        union all
        select from transfer where candidates @> array[asked.payment_id] and match_status = 'unmatched') as t
      group by asked.payment_id`,
    [paymentIds],
  );
  return new Map(rows.map(({ payment_id: id, transfers }) => [id, transfers]));
}

/** @returns the transfer that pays a payment, or is about to; locked. */
export async function lockPaying(tx: Transaction, paymentId: string): Promise<TransferRow | null> {
  const { rows } = await tx.query<TransferRow>(
    `select ${transferColumns} from transfer where payment_id = $1 for update`,
    [paymentId],
  );
  return rows[0] ?? null;
}

/**
 * PAID payments need no more money: they are removed from the candidates of other transfers. When one candidate is left, it becomes the
 * related payment; when none is left, the last one that became PAID does.
 * @param paymentIds in the order in which they became PAID.
 */
export async function dropCandidates(tx: Transaction, paymentIds: readonly string[]): Promise<void> {
  await tx.query({
    name: 'drop-candidates',
    text: `
      update transfer
         set candidates = case when cardinality(remaining) > 1 then remaining end,
             related_payment_id = case when cardinality(remaining) = 1 then remaining[1] end
        from (select network as n, transaction_id as id, transaction_event_index as index,
                     coalesce(nullif(array(select candidate from unnest(candidates) with ordinality as c (candidate, place)
                                            where candidate <> all ($1) order by place), '{}'),
                              array(select paid from unnest($1::text[]) with ordinality as p (paid, place)
                                     where paid = any (candidates) order by place desc limit 1)) as remaining
                from transfer where candidates && $1::text[]) as counted
       where network = n and transaction_id = id and transaction_event_index = index`,
    values: [paymentIds],
  });
}

/**
 * Locks the transfers that could pay a payment that is PENDING again: of its exact amount, on the chain, and paying nothing. The wallet's
 * lock is not enough: it may be a different wallet's, to which a reorg has moved the lost transfer.
 * @param amountUnits of the payment in base units of the token.
 * @returns at most ten, confirmed ones first, then in the chain's order.
 */
export async function lockCompetingTransfers(
  tx: Transaction,
  payment: PaymentRow,
  amountUnits: bigint,
  span: { from: Date; to: Date },
): Promise<TransferRow[]> {
  const { rows } = await tx.query<TransferRow>(
    `select ${transferColumns} from transfer
      where network = $1 and recipient = $2 and amount_units = $3 and ${paysNothingSql}
        and block_timestamp >= $4 and block_timestamp < $5
      order by phase = 'seen', block_number, transaction_event_index
      limit 10
        for update`,
    [payment.network, payment.recipient, amountUnits, span.from, span.to],
  );
  return rows;
}

/**
 * Locks transfers that were left open until these payments ended: those that came after a payment's end, of the exact amount unless the
 * payment has its address for itself, and those that were to pay it once confirmed.
 * @param lagMs how far a block's time may lag behind the transfer.
 * @returns at most ten of each kind for a payment, in the chain's order.
 */
export async function lockOpen(
  tx: Transaction,
  payments: readonly PaymentRow[],
  lagMs: number,
): Promise<TransferRow[]> {
  const { rows } = await tx.query<TransferRow>({
    name: 'lock-open',
    text: `
      select ${transferColumns} from transfer
       where (${idColumns}) in (
         select open.* from payment, lateral (
          (select ${idColumns} from transfer
            where related_payment_id = payment.payment_id and match_status = 'pending' and not counted limit 10)
          union all
          (select ${idColumns} from transfer
            where network = payment.network and recipient = payment.recipient and ${paysNothingSql}
              and (payment.rest_seconds is not null or amount_units = payment.amount_units * ('1e' || decimals - 6)::numeric)
              and block_timestamp >= payment.expires_at - $2 * interval '1 ms'
              and related_payment_id is null and candidates is null
            order by block_timestamp limit 10)) as open
          where payment.payment_id = any($1))
       order by block_number, transaction_event_index
         for update`,
    values: [payments.map(({ payment_id: id }) => id), lagMs],
  });
  return rows;
}
