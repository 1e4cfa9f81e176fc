import { longStatement } from '@quittance/postgres/long-statement.ts';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import { columns } from '@quittance/postgres/rows.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';

/** In TypeScript, addresses are 0x and 40 lowercase hex characters. */
export type NewWatch = { address: string; watchedFrom: Date };
export type BackFill = { address: string; next: number; to: number };

const HEX = `'0x' || encode(address, 'hex') as address`;

/**
 * Watches the wallets of these payments. A wallet that has been watched for long enough needs nothing more. If its watch is new, had ended,
 * or must start earlier, the state becomes 'new', and the leader reads the blocks that were missed.
 * Rows are locked in the same order here and in extendWatches(), so that two transactions with the same wallets do not deadlock.
 * @param watches in the order in which their payments were announced: messages about a wallet's transfers name the last one's merchant.
 */
export async function watchWallets(
  tx: Transaction,
  watches: readonly {
    network: string;
    address: string;
    merchantId: string;
    watchedFrom: string;
    watchedUntil: Date;
    /** The amount of a payment that has the wallet for itself, in millionths of a USDT; null for one that shares it. */
    aloneUnits: bigint | null;
  }[],
): Promise<void> {
  await tx.query({
    name: 'watch-wallets',
    text: `
      insert into watch (network, address, merchant_id, watched_from, watched_until, alone_units, state)
      select network, address, (array_agg(merchant_id order by position desc))[1], min(watched_from), max(watched_until),
             (array_agg(alone_units order by position desc))[1], 'new'
        from unnest($1::text[], $2::bytea[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bigint[]) with ordinality
               as payment (network, address, merchant_id, watched_from, watched_until, alone_units, position)
       group by network, address
       order by network, address
      on conflict (network, address) do update set
        merchant_id = excluded.merchant_id,
        alone_units = excluded.alone_units,
        watched_until = greatest(watch.watched_until, excluded.watched_until),
        watched_from = case when watch.state = 'ended' then excluded.watched_from
          else least(watch.watched_from, excluded.watched_from) end,
        state = case when ${NEEDS_READING} then 'new' else watch.state end,
        backfill_next = case when ${NEEDS_READING} then null else watch.backfill_next end,
        backfill_to = case when ${NEEDS_READING} then null else watch.backfill_to end,
        ended_through = null`,
    values: columns(
      watches.map(withBytes),
      'network',
      'address',
      'merchantId',
      'watchedFrom',
      'watchedUntil',
      'aloneUnits',
    ),
  });
}

/** In the order in which watchWallets() locks them. */
const LOCKED_IN_ORDER = `array(
  select address from watch where network = $1 and address = any($2) order by address for update)`;

const NEEDS_READING = `(watch.state = 'ended' or excluded.watched_from < watch.watched_from)`;

/** Keeps watched wallets watched at least until `watchedUntil`. */
export async function extendWatches(
  tx: Transaction,
  watches: readonly { network: string; address: string; watchedUntil: Date }[],
): Promise<void> {
  await tx.query({
    name: 'extend-watches',
    text: `
      with wanted as (
        select network, address, max(watched_until) as watched_until
          from unnest($1::text[], $2::bytea[], $3::timestamptz[]) as payment (network, address, watched_until)
         group by network, address
      ), locked as materialized (
        select network, address, wanted.watched_until from watch join wanted using (network, address)
         where watch.watched_until < wanted.watched_until and state <> 'ended'
         order by network, address
           for update of watch
      )
      update watch set watched_until = locked.watched_until from locked
       where watch.network = locked.network and watch.address = locked.address
         and watch.watched_until < locked.watched_until and state <> 'ended'`,
    values: columns(watches.map(withBytes), 'network', 'address', 'watchedUntil'),
  });
}

/** Rows in one answer, so that a million of them do not arrive at once. */
const PAGE = 20_000;

/**
 * Calls `use` for every watched wallet. A cursor reads the table once. Asking page by page would sort the rest of the table each time when it
 * has no statistics, as after a restore.
 * @param use may be called again for the same wallet.
 */
export async function eachWatchedAddress(pool: Pool, network: string, use: (address: string) => void): Promise<void> {
  await transaction(pool, async (tx) => {
    await tx.query(
      `declare watched no scroll cursor for select address from watch where network = $1 and state <> 'ended'`,
      [network],
    );
    for (;;) {
      const { rows } = await tx.query<{ address: Buffer }>(`fetch ${String(PAGE)} from watched`);
      for (const { address } of rows) use(`0x${address.toString('hex')}`);
      if (rows.length < PAGE) return;
    }
  });
}

/** Wallets that no leader watches yet, the latest start first, so that an old one, which is hard to date, delays no other. */
export async function readNewWatches(pool: Pool, network: string, limit: number): Promise<NewWatch[]> {
  const { rows } = await pool.query<NewWatch>(
    `select ${HEX}, watched_from as "watchedFrom" from watch where network = $1 and state = 'new' order by watched_from desc limit $2`,
    [network, limit],
  );
  return rows;
}

/**
 * Stores which blocks new wallets still need: `backFill.from` to `backFill.to`, or none.
 * A wallet whose start has since moved before `coveredFrom` stays new, for the next round.
 */
export async function planWatches(
  tx: Transaction,
  network: string,
  addresses: readonly string[],
  coveredFrom: Date,
  backFill: { from: number; to: number } | null,
): Promise<void> {
  await tx.query(
    `update watch set state = case when $4::bigint is null then 'watching' else 'backfilling' end,
       backfill_next = $4, backfill_to = $5
     where network = $1 and address = any(${LOCKED_IN_ORDER}) and state = 'new' and watched_from >= $3`,
    [network, addresses.map(toBytes), coveredFrom, backFill?.from ?? null, backFill?.to ?? null],
  );
}

/** Whether more wallets than this would need a back-fill if the blocks after this time were skipped. */
export async function needMoreThan(
  db: Queryable,
  network: string,
  scannedThrough: Date,
  wallets: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `select 1 from watch where network = $1 and (state = 'backfilling' or (state = 'watching' and watched_until >= $2)) limit $3`,
    [network, scannedThrough, wallets + 1],
  );
  return (rowCount ?? 0) > wallets;
}

/** Longer than a million wallets take. */
const JUMP_TIMEOUT_MS = 60_000;

/**
 * Stores that the blocks `from` to `through` were skipped, while those below, up to the time `scannedThrough`, were scanned. Watched wallets
 * get a back-fill of these blocks. Watches that start after `plannedFrom` are planned again, and those no longer needed end.
 * @returns how many wallets get a back-fill.
 */
export async function leaveToBackFill(
  tx: Transaction,
  network: string,
  {
    from,
    through,
    scannedThrough,
    plannedFrom,
  }: { from: number; through: number; scannedThrough: Date; plannedFrom: Date },
): Promise<number> {
  await longStatement(tx, JUMP_TIMEOUT_MS, {
    text: `update watch set state = 'new' where network = $1 and state = 'watching' and watched_from >= $2`,
    values: [network, plannedFrom],
  });
  const { rowCount } = await longStatement(tx, JUMP_TIMEOUT_MS, {
    text: `update watch set state = 'backfilling', backfill_next = least(backfill_next, $2), backfill_to = $3
      where network = $1 and (state = 'backfilling' or (state = 'watching' and watched_until >= $4))`,
    values: [network, from, through, scannedThrough],
  });
  await longStatement(tx, JUMP_TIMEOUT_MS, {
    text: `update watch set state = 'ended', ended_through = $2 where network = $1 and state = 'watching'`,
    values: [network, scannedThrough],
  });
  return rowCount ?? 0;
}

/** Wallets that still need blocks, by the next block of each. */
export async function readBackFills(
  pool: Pool,
  network: string,
  { newestFirst, limit }: { newestFirst: boolean; limit: number },
): Promise<BackFill[]> {
  const { rows } = await pool.query<BackFill>(
    `select ${HEX}, backfill_next::float8 as next, backfill_to::float8 as to from watch
     where network = $1 and state = 'backfilling' order by backfill_next ${newestFirst ? 'desc' : 'asc'} limit $2`,
    [network, limit],
  );
  return rows;
}

/** Records that the blocks `from` to `through` were read for these wallets. A wallet that needs no more blocks is complete. */
export async function advanceBackFills(
  tx: Transaction,
  network: string,
  addresses: readonly string[],
  { from, through, tip }: { from: number; through: number; tip: number },
): Promise<void> {
  // A reorg may have removed blocks that were still to be read. Their replacements are scanned as new blocks.
  await tx.query(
    `update watch set
       state = case when least(backfill_to, $5) <= $4 then 'watching' else state end,
       backfill_next = case when least(backfill_to, $5) <= $4 then null else $4 + 1 end,
       backfill_to = case when least(backfill_to, $5) <= $4 then null else backfill_to end
     where network = $1 and address = any(${LOCKED_IN_ORDER}) and state = 'backfilling' and backfill_next between $3 and $4`,
    [network, addresses.map(toBytes), from, through, tip],
  );
}

/**
 * Ends the watches that no payment needs any more. Chain time decides, so even a long outage of the nodes ends no watch before its blocks
 * have been read.
 * @returns the wallets that are no longer watched.
 */
export async function endWatches(tx: Transaction, network: string, final: Date, limit: number): Promise<string[]> {
  const { rows } = await tx.query<{ address: string }>(
    `update watch set state = 'ended', ended_through = $2
     where network = $1 and state = 'watching' and watched_until < $2 and address in (
       select address from watch where network = $1 and state = 'watching' and watched_until < $2 limit $3)
     returning ${HEX}`,
    [network, final, limit],
  );
  return rows.map(({ address }) => address);
}

/** In which blocks a wallet's transfers are known. */
export type WatchSpan = {
  address: string;
  state: 'new' | 'backfilling' | 'watching' | 'ended';
  watchedFrom: Date;
  backFillTo: number | null;
  endedThrough: Date | null;
};

/** Which of these wallets are or were watched. */
export async function readWatchSpans(
  db: Queryable,
  network: string,
  addresses: readonly string[],
): Promise<WatchSpan[]> {
  const { rows } = await db.query<WatchSpan>(
    `select ${HEX}, state, watched_from as "watchedFrom", backfill_to::float8 as "backFillTo", ended_through as "endedThrough"
     from watch where network = $1 and address = any($2)`,
    [network, addresses.map(toBytes)],
  );
  return rows;
}

/** `watched`: wallets that are watched. `backFilling`: those of them that still need older blocks. */
export async function countWatches(db: Queryable, network: string): Promise<{ watched: number; backFilling: number }> {
  const { rows } = await db.query<{ watched: number; backFilling: number }>(
    `select count(*) filter (where state <> 'ended')::integer as watched,
       count(*) filter (where state in ('new', 'backfilling'))::integer as "backFilling"
     from watch where network = $1`,
    [network],
  );
  return rows[0] ?? { watched: 0, backFilling: 0 };
}

/**
 * Watches wallets again whose watch ended in a block that is gone: its replacement has not been read for them.
 * @returns their addresses.
 */
export async function reviveWatchesEndedAfter(tx: Transaction, network: string, timestamp: number): Promise<string[]> {
  const { rows } = await tx.query<{ address: string }>(
    `update watch set state = 'watching', ended_through = null
     where network = $1 and state = 'ended' and ended_through > to_timestamp($2)
     returning ${HEX}`,
    [network, timestamp],
  );
  return rows.map(({ address }) => address);
}

const toBytes = (address: string): Buffer => Buffer.from(address.slice(2), 'hex');

const withBytes = <Row extends { address: string }>(row: Row) => ({ ...row, address: toBytes(row.address) });
