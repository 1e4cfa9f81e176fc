import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';

/** Names a transfer in its block. Hex as in Transfer: the transaction without 0x, hash and addresses with it. */
export type StoredTransfer = {
  transactionId: string;
  transactionEventIndex: number;
  blockNumber: number;
  blockHash: string;
  recipient: string;
};

/** @returns the last block that was read a second time; null before the first. */
export async function readAudited(db: Queryable, network: string): Promise<number | null> {
  const { rows } = await db.query<{ audited_number: bigint | null }>(
    'select audited_number from cursor where network = $1',
    [network],
  );
  const number = rows[0]?.audited_number ?? null;
  return number === null ? null : Number(number);
}

/** Call fence() first. */
export async function moveAudited(tx: Transaction, network: string, number: number): Promise<void> {
  await tx.query('update cursor set audited_number = $2 where network = $1', [network, number]);
}

/** What is known of the blocks above this height by now has been read only once. */
export async function lowerAudited(tx: Transaction, network: string, number: number): Promise<void> {
  await tx.query('update cursor set audited_number = $2 where network = $1 and audited_number > $2', [network, number]);
}

const STORED = `transaction_id, transaction_event_index, block_number, '0x' || encode(block_hash, 'hex') as block_hash,
  '0x' || encode(recipient, 'hex') as recipient`;
type StoredRow = {
  transaction_id: string;
  transaction_event_index: number;
  block_number: bigint;
  block_hash: string;
  recipient: string;
};

/** The transfers that count in the blocks `from` to `to`. */
export async function readStoredTransfers(
  pool: Pool,
  network: string,
  from: number,
  to: number,
): Promise<StoredTransfer[]> {
  const { rows } = await pool.query<StoredRow>(
    `select ${STORED} from transfer where network = $1 and block_number between $2 and $3 and phase <> 'retracted'`,
    [network, from, to],
  );
  return rows.map(toStored);
}

/** Those of these transfers, by transaction and position, that count in any block. */
export async function readCounted(
  tx: Transaction,
  network: string,
  transfers: readonly { transactionId: string; transactionEventIndex: number }[],
): Promise<StoredTransfer[]> {
  const { rows } = await tx.query<StoredRow>(
    `select ${STORED} from transfer
     join unnest($2::text[], $3::integer[]) as asked(id, position) on transaction_id = id and transaction_event_index = position
     where network = $1 and phase <> 'retracted'`,
    [network, transfers.map((one) => one.transactionId), transfers.map((one) => one.transactionEventIndex)],
  );
  return rows.map(toStored);
}

/** What must be known of a wallet to say whether the scan should have seen a transfer to it. */
export type WatchSpan = {
  address: string;
  state: 'new' | 'backfilling' | 'watching' | 'ended';
  watchedFrom: Date;
  backFillTo: number | null;
  endedThrough: Date | null;
};

/** Of these wallets (20-byte hex), those that are or were watched. */
export async function readWatchSpans(
  db: Queryable,
  network: string,
  addresses: readonly string[],
): Promise<WatchSpan[]> {
  const { rows } = await db.query<{
    address: string;
    state: WatchSpan['state'];
    watched_from: Date;
    backfill_to: bigint | null;
    ended_through: Date | null;
  }>(
    `select '0x' || encode(address, 'hex') as address, state, watched_from, backfill_to, ended_through
     from watch where network = $1 and address = any($2)`,
    [network, addresses.map((address) => Buffer.from(address.slice(2), 'hex'))],
  );
  return rows.map((row) => ({
    address: row.address,
    state: row.state,
    watchedFrom: row.watched_from,
    backFillTo: row.backfill_to === null ? null : Number(row.backfill_to),
    endedThrough: row.ended_through,
  }));
}

/** `watched`: wallets whose transfers are looked for; `backFilling`: those of them with older blocks still to read. */
export async function countWatches(db: Queryable, network: string): Promise<{ watched: number; backFilling: number }> {
  const { rows } = await db.query<{ watched: bigint; back_filling: bigint }>(
    `select count(*) filter (where state <> 'ended') as watched,
       count(*) filter (where state in ('new', 'backfilling')) as back_filling
     from watch where network = $1`,
    [network],
  );
  return { watched: Number(rows[0]?.watched ?? 0), backFilling: Number(rows[0]?.back_filling ?? 0) };
}

/**
 * Watches wallets again whose watching ended with blocks that are gone: what replaces those has not been read for them.
 * @returns their addresses.
 */
export async function reviveWatchesEndedAfter(tx: Transaction, network: string, timestamp: number): Promise<string[]> {
  const { rows } = await tx.query<{ address: string }>(
    `update watch set state = 'watching', ended_through = null
     where network = $1 and state = 'ended' and ended_through > to_timestamp($2)
     returning '0x' || encode(address, 'hex') as address`,
    [network, timestamp],
  );
  return rows.map(({ address }) => address);
}

function toStored(row: StoredRow): StoredTransfer {
  return {
    transactionId: row.transaction_id,
    transactionEventIndex: row.transaction_event_index,
    blockNumber: Number(row.block_number),
    blockHash: row.block_hash,
    recipient: row.recipient,
  };
}
