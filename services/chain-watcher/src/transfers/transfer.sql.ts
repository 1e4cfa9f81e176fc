import type { FinalHeights } from '@quittance/chain-reader/chain/finality.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import type { TransferPosition } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { columns } from '@quittance/postgres/rows.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';

type TransferPhase = 'seen' | 'confirmed' | 'retracted';

/** The published columns of a stored transfer. Hex without 0x. */
export type TransferRow = {
  merchant_id: string;
  transaction_id: string;
  transaction_event_index: number;
  block_number: bigint;
  block_hash: string;
  block_timestamp: Date;
  sender: string;
  recipient: string;
  /** Decimal text: it never becomes a JavaScript number. */
  amount_units: string;
  phase: TransferPhase;
  version: number;
  /** When we first read a block with this transfer. */
  first_seen_at: Date;
  /** Whether the network was read without a gap at that time. */
  live: boolean;
};

const COLUMNS = `merchant_id, transaction_id, transaction_event_index, block_number,
  encode(block_hash, 'hex') as block_hash, block_timestamp, encode(sender, 'hex') as sender,
  encode(recipient, 'hex') as recipient, amount_units, phase, version, first_seen_at, live`;

/** Enough to make the cost of round trips negligible, and few enough for any statement timeout. */
const ROWS_PER_STATEMENT = 1_000;

/** What is decided about each transfer when it is stored. */
type Verdicts = {
  /** Whether it is final now, by its own amount. If so, its version counts both observations. */
  isConfirmed?: (transfer: Transfer) => boolean;
  /** Whether the network was read without a gap up to this reading. Never when blocks are read again. */
  isLive?: (transfer: Transfer) => boolean;
};

/**
 * Stores transfers as seen, or as confirmed. A transfer that is already stored in this block, and not retracted, does not change, so reading
 * blocks again changes nothing. If its block was orphaned and has come back, it counts again.
 * Transfers to wallets that are not watched, or whose watch ended before the block, are left out.
 * One that is part of a payment of a larger amount is only stored as seen: confirmTransfers() decides about it.
 * A transfer that is stored again, in this block or another one, keeps the time of its first reading.
 * @returns the new transfers, the oldest first.
 * @throws a unique violation when the transfer counts in another block: a chain cannot hold it twice.
 */
export async function insertTransfers(
  tx: Transaction,
  { id: network, decimals }: Pick<ChainNetwork, 'id' | 'decimals'>,
  transfers: readonly Transfer[],
  { isConfirmed = () => false, isLive = () => false }: Verdicts = {},
): Promise<TransferRow[]> {
  const inserted: TransferRow[] = [];
  for (let start = 0; start < transfers.length; start += ROWS_PER_STATEMENT) {
    const part = transfers.slice(start, start + ROWS_PER_STATEMENT);
    const { rows } = await tx.query<TransferRow>(
      `insert into transfer (network, transaction_id, transaction_event_index, block_hash, block_number, block_timestamp,
         merchant_id, sender, recipient, amount_units, judged_units, phase, version, first_seen_at, live, agreed_by)
       select $1, id, position, decode(block, 'hex'), number, to_timestamp(time), watch.merchant_id, decode(sender, 'hex'),
         watch.address, amount, whole.units, case when is_confirmed and whole.units is null then 'confirmed' else 'seen' end,
         case when is_confirmed and whole.units is null then 2 else 1 end + coalesce(before.version, 0),
         coalesce(before.first_seen_at, now()), coalesce(before.live, is_live),
         case when is_confirmed and whole.units is null then 1 end
       from unnest($2::text[], $3::integer[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::numeric[],
           $10::boolean[], $11::boolean[])
         as new(id, position, block, number, time, sender, recipient, amount, is_confirmed, is_live)
       join watch on watch.network = $1 and watch.address = decode(new.recipient, 'hex')
         and (watch.state <> 'ended' or watch.ended_through > to_timestamp(time))
       cross join lateral (select nullif(greatest(watch.alone_units * ('1e' || $12::integer - 6)::numeric, amount), amount) as units) whole
       cross join lateral (
         select max(version) as version, min(first_seen_at) as first_seen_at, (array_agg(live order by first_seen_at))[1] as live
         from transfer
         where network = $1 and transaction_id = id and transaction_event_index = position
       ) as before
       on conflict (network, transaction_id, transaction_event_index, block_hash) do update
         set phase = excluded.phase, version = excluded.version, judged_units = excluded.judged_units, first_seen_at = excluded.first_seen_at, live = excluded.live,
           agreed_by = excluded.agreed_by, changed_at = now()
         where transfer.phase = 'retracted'
       returning ${COLUMNS}`,
      [
        network,
        ...columns(part, 'transactionId', 'transactionEventIndex'),
        hexColumn(part, 'blockHash'),
        ...columns(part, 'blockNumber', 'blockTimestamp'),
        hexColumn(part, 'from'),
        hexColumn(part, 'to'),
        ...columns(part, 'amountUnits'),
        part.map(isConfirmed),
        part.map(isLive),
        decimals,
      ],
    );
    inserted.push(...rows);
  }
  return inserted.sort(oldestFirst);
}

export type Thresholds = Pick<ChainNetwork, 'id' | 'finalizedAbove' | 'crossCheckedAbove'>;

/** The amount that decides what a transfer needs. */
const judged = 'coalesce(judged_units, amount_units)';

/**
 * The network's policy; $1 is the network.
 * @param at position of the first of finalParameters(). The last of them is the amount above which the cross-check confirms.
 */
const seenAndFinal = (at: number): string => {
  const [height, cap, largeHeight] = [at, at + 1, at + 2].map((place) => `$${String(place)}`);
  return `network = $1 and phase = 'seen' and block_number <= ${height}
    and (${cap}::numeric is null or ${judged} <= ${cap} or block_number <= ${largeHeight})`;
};

export const finalParameters = (
  { finalizedAbove, crossCheckedAbove }: Thresholds,
  { finalHeight, largeFinalHeight }: FinalHeights,
): unknown[] => [
  finalHeight,
  finalizedAbove?.toString() ?? null,
  largeFinalHeight,
  crossCheckedAbove?.toString() ?? null,
];

/**
 * Confirms the transfers that are final under the network's policy, except those that the cross-check confirms.
 * @param at see seenAndFinal().
 */
export const confirmSql = (at: number, condition = 'true'): string =>
  `update transfer set phase = 'confirmed', version = version + 1, changed_at = now(), agreed_by = 1
   where ${seenAndFinal(at)} and ($${String(at + 3)}::numeric is null or ${judged} <= $${String(at + 3)}) and ${condition}
   returning ${COLUMNS}`;

/** @returns the transfers that it has confirmed. */
export async function confirmTransfers(
  tx: Transaction,
  network: Thresholds,
  heights: FinalHeights,
): Promise<TransferRow[]> {
  const { rows } = await tx.query<TransferRow>(confirmSql(2), [network.id, ...finalParameters(network, heights)]);
  return rows.sort(oldestFirst);
}

/** Whether a transfer in the blocks above `after`, up to `through`, waits only for its block to become final. */
export async function isFinalityAwaited(
  db: Queryable,
  { id, finality, finalizedAbove }: Pick<ChainNetwork, 'id' | 'finality' | 'finalizedAbove'>,
  { after, through }: { after: number; through: number },
): Promise<boolean> {
  const above = finality === 'finalized' ? '0' : (finalizedAbove?.toString() ?? null);
  if (above === null) return false;
  const { rowCount } = await db.query(
    `select from transfer where network = $1 and phase = 'seen' and block_number > $2 and block_number <= $3
     and ${judged} > $4 limit 1`,
    [id, after, through, above],
  );
  return rowCount === 1;
}

/** A transfer that waits for the cross-check, with what is known of its block's reading; null where its block is not proven. */
export type AwaitingTransfer = TransferRow & {
  /** See Transfer.proof. */
  endpoint: number | null;
  transaction_index: number | null;
  /** Base units that decide what it needs. */
  judged: string;
};

/** Final transfers that still need a second endpoint, the oldest first. */
export async function readAwaitingCrossCheck(
  db: Queryable,
  network: Thresholds,
  heights: FinalHeights,
  page: { offset: number; limit: number },
): Promise<AwaitingTransfer[]> {
  const { rows } = await db.query<AwaitingTransfer>(
    `select waiting.*, endpoint, transaction_index from (
       select ${COLUMNS}, ${judged} as judged from transfer
        where ${seenAndFinal(2)} and ${judged} > $5
        order by block_number, transaction_id, transaction_event_index limit $6 offset $7) waiting
     left join transfer_proof p on p.network = $1 and p.transaction_id = waiting.transaction_id
                               and encode(p.block_hash, 'hex') = waiting.block_hash
     order by block_number, waiting.transaction_id, transaction_event_index`,
    [network.id, ...finalParameters(network, heights), page.limit, page.offset],
  );
  return rows;
}

/**
 * Confirms transfers in these blocks of our chain.
 * @param agreedBy how many endpoints have called their blocks final.
 * @returns those that were not confirmed before, and are not gone, the oldest first.
 */
export async function confirmAgreed(
  tx: Transaction,
  network: string,
  transfers: readonly TransferRow[],
  agreedBy: number,
): Promise<TransferRow[]> {
  const { rows } = await tx.query<TransferRow>(
    `update transfer set phase = 'confirmed', version = version + 1, changed_at = now(), agreed_by = $5
       from unnest($2::text[], $3::integer[], $4::text[]) as agreed (id, position, block)
     where network = $1 and transaction_id = id and transaction_event_index = position
       and block_hash = decode(block, 'hex') and phase = 'seen'
     returning ${COLUMNS}`,
    [network, ...columns(transfers, 'transaction_id', 'transaction_event_index', 'block_hash'), agreedBy],
  );
  return rows.sort(oldestFirst);
}

type RetractedRow = TransferRow & { previous_phase: TransferPhase };

/** Retracts the transfers in these phases above this height. @returns them, newest first, with their previous phases. */
export async function retractTransfersAbove(
  tx: Transaction,
  network: string,
  height: number,
  phases: readonly TransferPhase[] = ['seen', 'confirmed'],
): Promise<RetractedRow[]> {
  const { rows } = await tx.query<RetractedRow>(
    `with retracted as (
       select transaction_id as id, transaction_event_index as position, block_hash as block, phase as previous_phase
       from transfer where network = $1 and block_number > $2 and phase = any($3) and phase <> 'retracted' for update
     )
     update transfer set phase = 'retracted', version = version + 1, changed_at = now()
     from retracted
     where network = $1 and transaction_id = id and transaction_event_index = position and block_hash = block
     returning ${COLUMNS}, previous_phase`,
    [network, height, phases],
  );
  return rows.sort((a, b) => oldestFirst(b, a));
}

/**
 * A recipient (20-byte hex with 0x) and a time span in RFC 3339 that excludes its end.
 * `amountUnits`: base units of the token; null for any amount.
 */
export type Window = { recipient: string; amountUnits: bigint | null; from: string; to: string };

/** If the first reading of a transfer was not live, it may have been made up to this long after its block's timestamp. */
const MADE_WITHIN = '15 seconds';

/**
 * The transfers, except retracted ones, that may have been made inside these windows: at most `limit`, starting after `after`. A transfer was
 * made between its block's timestamp and its first reading, if that was live. When the chain's clock is ahead, the two ends are swapped.
 * @param page.reachSeconds how far outside a window a block's timestamp may be.
 */
export async function readTransfersIn(
  db: Queryable,
  network: string,
  windows: readonly Window[],
  { reachSeconds, limit, after }: { reachSeconds: number; limit: number; after?: TransferPosition },
): Promise<TransferRow[]> {
  const { rows } = await db.query<TransferRow>(
    `select distinct ${COLUMNS}
     from jsonb_to_recordset($2) as wanted(address text, exactly numeric, "from" timestamptz, closes timestamptz)
     -- Block timestamps are whole seconds, so the window begins with the second of its start.
     cross join lateral (select date_trunc('second', "from") as opens, make_interval(secs => $7) as reach) as reaching
     -- Two branches, so that each has an index.
     join lateral (
       select * from transfer where network = $1 and recipient = decode(address, 'hex') and phase <> 'retracted'
         and block_timestamp >= opens - reach and block_timestamp < closes + reach and amount_units = exactly
       union all
       select * from transfer where network = $1 and recipient = decode(address, 'hex') and phase <> 'retracted'
         and block_timestamp >= opens - reach and block_timestamp < closes + reach and exactly is null
     ) as transfer on true
     cross join lateral (
       select case when live then first_seen_at else block_timestamp + interval '${MADE_WITHIN}' end as made_by
     ) as reading
     where least(block_timestamp, made_by) < closes and greatest(block_timestamp, made_by) >= opens
       and ($4::bigint is null or (block_number, transaction_id, transaction_event_index) > ($4, $5, $6::integer))
     order by block_number, transaction_id, transaction_event_index limit $3`,
    [
      network,
      JSON.stringify(windows.map(toWanted)),
      limit,
      after?.block_number,
      after?.transaction_id,
      after?.transaction_event_index,
      reachSeconds,
    ],
  );
  return rows;
}

/** The transfers that count in the blocks `from` to `to`. */
export async function readTransfersOfBlocks(
  db: Queryable,
  network: string,
  from: number,
  to: number,
): Promise<Transfer[]> {
  const { rows } = await db.query<TransferRow>(
    `select ${COLUMNS} from transfer where network = $1 and block_number between $2 and $3 and phase <> 'retracted'`,
    [network, from, to],
  );
  return rows.map(toTransfer);
}

/** Which of these transfers, by transaction and position, count in any block. */
export async function readCountedTransfers(
  tx: Transaction,
  network: string,
  transfers: readonly Pick<Transfer, 'transactionId' | 'transactionEventIndex'>[],
): Promise<Transfer[]> {
  const { rows } = await tx.query<TransferRow>(
    `select ${COLUMNS} from transfer
     join unnest($2::text[], $3::integer[]) as asked(id, position) on transaction_id = id and transaction_event_index = position
     where network = $1 and phase <> 'retracted'`,
    [network, ...columns(transfers, 'transactionId', 'transactionEventIndex')],
  );
  return rows.map(toTransfer);
}

/** A stored transfer as the chain showed it. */
export function toTransfer(row: TransferRow): Transfer {
  return {
    transactionId: row.transaction_id,
    transactionEventIndex: row.transaction_event_index,
    from: `0x${row.sender}`,
    to: `0x${row.recipient}`,
    amountUnits: BigInt(row.amount_units),
    blockNumber: Number(row.block_number),
    blockHash: `0x${row.block_hash}`,
    blockTimestamp: row.block_timestamp.getTime() / 1000,
  };
}

const hexColumn = (transfers: readonly Transfer[], name: 'blockHash' | 'from' | 'to'): string[] =>
  transfers.map((transfer) => transfer[name].slice(2));

function toWanted({ recipient, amountUnits, from, to }: Window) {
  return { address: recipient.slice(2), exactly: amountUnits?.toString() ?? null, from, closes: to };
}

/** By height, then by transaction and position. That is not the order inside the block, but it is stable. */
export function oldestFirst(a: TransferRow, b: TransferRow): number {
  if (a.block_number !== b.block_number) return a.block_number < b.block_number ? -1 : 1;
  if (a.transaction_id !== b.transaction_id) return a.transaction_id < b.transaction_id ? -1 : 1;
  return a.transaction_event_index - b.transaction_event_index;
}
