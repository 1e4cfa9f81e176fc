import type { BlockHead } from '@quittance/chain-reader/chain/local-chain.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { NetworkTip } from '@quittance/contracts/http/chain-watcher/chains.ts';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import { firstRow } from '@quittance/postgres/rows.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';

export type FinalBlock = Pick<BlockHead, 'number' | 'timestamp'>;

/** How far the scan of one network has come. */
export type Cursor = {
  network: string;
  /** `new`: no block is scanned yet. `halted`: nothing is stored until an operator resumes the network. */
  state: 'new' | 'scanning' | 'halted';
  epoch: bigint;
  /** The last block scanned; null before the first. */
  tip: BlockHead | null;
  /** Height of the last head seen. */
  head: number;
  /** Height of the last scanned block that the chain calls final. Never goes back: a fork below it halts the network. */
  finalized: number;
  /** Whether any endpoint has ever named a final block. From then on, only a named one counts. */
  hasNamedFinal: boolean;
  /** Everything up to this block is scanned and deep enough to confirm; null when no block is. */
  final: FinalBlock | null;
  /** The same for transfers above the network's cap; never above `final`. */
  largeFinal: FinalBlock | null;
  /** The last block that was read a second time; null before the first. */
  audited: number | null;
  /** Null unless halted; the reason is a sentence. */
  haltedAt: Date | null;
  haltReason: string | null;
};

/** Thrown when another replica now leads this network, or the network has been halted. The transaction must roll back. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
}

const finalBlock = (name: string): string =>
  `case when ${name}_number is not null then
     json_build_object('number', ${name}_number, 'timestamp', extract(epoch from ${name}_timestamp)::bigint) end`;

/** The columns as a Cursor names them. Heights and block times fit a JavaScript number. */
const CURSOR = `network, state, epoch,
  case when number is not null then json_build_object('number', number, 'hash', '0x' || encode(hash, 'hex'),
    'timestamp', extract(epoch from timestamp)::bigint) end as tip,
  coalesce(head_number, 0)::float8 as head, coalesce(finalized_number, 0)::float8 as finalized,
  has_named_final as "hasNamedFinal",
  ${finalBlock('final')} as final, ${finalBlock('large_final')} as "largeFinal", audited_number::float8 as audited,
  halted_at as "haltedAt", halt_reason as "haltReason"`;

/**
 * Makes the caller the leader of a network: after this commit, a commit with any other epoch fails. It waits for a commit that is
 * in progress, so that everything read afterwards includes it.
 */
export async function takeOver(pool: Pool, network: string): Promise<Cursor> {
  const { rows } = await pool.query<Cursor>(
    `insert into cursor (network, epoch) values ($1, 1)
     on conflict (network) do update set epoch = cursor.epoch + 1, updated_at = now()
     returning ${CURSOR}`,
    [network],
  );
  return firstRow(rows);
}

/** @returns null before the first term of a leader. */
export async function readCursor(db: Queryable, network: string): Promise<Cursor | null> {
  const { rows } = await db.query<Cursor>(`select ${CURSOR} from cursor where network = $1`, [network]);
  return rows[0] ?? null;
}

/** A network is unreadable when its next complete look is overdue by this much. */
const UNREAD_AFTER_MS = 60_000;

/** The pauses between two looks: while payments wait, and while none does. */
type Looked = Pick<ChainNetwork, 'id' | 'poll_interval_ms' | 'asleep_poll_interval_ms'>;

/** @returns the networks that have a scanned block, and the database's time. */
export async function readTips(
  db: Queryable,
  networks: readonly Looked[],
): Promise<{ tips: NetworkTip[]; clock: Date }> {
  const { rows } = await db.query<{ clock: Date } & (NetworkTip | { network: null })>(
    `select clock, network, number::float8 as height, final_number::float8 as final_height,
            large_final_number::float8 as large_final_height,
            state = 'halted' or last_read < clock - asleep_pause
              or (last_read < clock - pause and exists (
                -- A network that has just woken up had no reason for a look until now.
                select from unfinished_payment waiting where waiting.network = cursor.network and closed_at is null
                   and created_at < clock - pause)) as unreadable
       from (select now() as clock) as present
       left join (unnest($1::text[], $2::integer[], $3::integer[]) as asked(id, pause_ms, asleep_ms)
         join cursor on network = id and number is not null
         -- Before the first complete look, and after one by an earlier release, the last commit counts.
         cross join lateral (select coalesce(read_at, updated_at) as last_read,
           make_interval(secs => pause_ms / 1000.0) as pause, make_interval(secs => asleep_ms / 1000.0) as asleep_pause) as times
       ) on true
      order by network`,
    [
      networks.map(({ id }) => id),
      networks.map((network) => UNREAD_AFTER_MS + network.poll_interval_ms),
      networks.map((network) => UNREAD_AFTER_MS + network.asleep_poll_interval_ms),
    ],
  );
  const { clock } = firstRow(rows);
  // Without any network, there is one row with none.
  const tips = rows.flatMap(({ clock: _, ...tip }) => (tip.network === null ? [] : [tip]));
  return { tips, clock };
}

/** Stores that a look was complete. From a leader that has been replaced, it changes nothing. */
export async function markRead(db: Queryable, network: string, epoch: bigint): Promise<void> {
  await db.query(`update cursor set read_at = now() where network = $1 and epoch = $2`, [network, epoch]);
}

/**
 * Locks the cursor for this transaction and proves that the caller still leads.
 * @throws Fenced
 */
export async function fence(tx: Transaction, network: string, epoch: bigint): Promise<void> {
  const { rowCount } = await tx.query(
    `select 1 from cursor where network = $1 and epoch = $2 and state <> 'halted' for update`,
    [network, epoch],
  );
  if (rowCount !== 1) throw fencedOff(network);
}

export type CursorMove = Omit<Cursor, 'state' | 'audited' | 'haltedAt' | 'haltReason'> & { tip: BlockHead };

/** For a leader that has been replaced, it moves no row. Parameters: moveParameters(). */
export const MOVE_CURSOR = `update cursor
  set number = $3, hash = $4, timestamp = to_timestamp($5), head_number = $6, finalized_number = $7,
    final_number = $8, final_timestamp = to_timestamp($9), large_final_number = $10, large_final_timestamp = to_timestamp($11),
    has_named_final = $12, updated_at = now()
  where network = $1 and epoch = $2 and state <> 'halted'`;

/** $1 to $12. */
export const moveParameters = (move: CursorMove): unknown[] => [
  move.network,
  move.epoch,
  move.tip.number,
  Buffer.from(move.tip.hash.slice(2), 'hex'),
  move.tip.timestamp,
  move.head,
  move.finalized,
  move.final?.number ?? null,
  move.final?.timestamp ?? null,
  move.largeFinal?.number ?? null,
  move.largeFinal?.timestamp ?? null,
  move.hasNamedFinal,
];

/**
 * Moves the cursor. This is also the transaction's fence: call it first.
 * @throws Fenced
 */
export async function moveCursor(tx: Transaction, move: CursorMove): Promise<void> {
  const { rowCount } = await tx.query(MOVE_CURSOR, moveParameters(move));
  if (rowCount !== 1) throw fencedOff(move.network);
}

export const fencedOff = (network: string): Fenced => new Fenced(`${network}: another leader has taken over`);

/** Call fence() first. */
export async function moveAudited(tx: Transaction, network: string, number: number): Promise<void> {
  await tx.query('update cursor set audited_number = $2 where network = $1', [network, number]);
}

/** Has the blocks above this height audited again. Call fence() or moveCursor() first. */
export async function lowerAudited(tx: Transaction, network: string, number: number): Promise<void> {
  await tx.query('update cursor set audited_number = $2 where network = $1 and audited_number > $2', [network, number]);
}

/** Stops the network until an operator resumes it. @param reason a sentence for the operator. @throws Fenced */
export async function haltNetwork(tx: Transaction, network: string, epoch: bigint, reason: string): Promise<void> {
  await fence(tx, network, epoch);
  await tx.query('update cursor set halted_at = now(), halt_reason = $2, updated_at = now() where network = $1', [
    network,
    reason,
  ]);
}
