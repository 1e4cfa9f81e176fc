import type { WalletPool } from '@quittance/contracts/http/payments/pools.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { WithDates } from '@quittance/runtime/time.ts';
import { isUnfinishedSql } from '../payment/payment.sql.ts';

/** A pool as a creation needs it. */
export type Pool = Pick<WalletPool, 'network' | 'kind' | 'rest_seconds'> & { source_id: bigint };

/** @returns null for a name that the merchant has not used. */
export async function findPool(db: Queryable, merchantId: string, name: string): Promise<Pool | null> {
  const { rows } = await db.query<Pool>(
    `select source_id, s.network, s.kind, p.rest_seconds from wallet_pool p join address_source s using (source_id)
      where p.merchant_id = $1 and p.name = $2`,
    [merchantId, name],
  );
  return rows[0] ?? null;
}

export type PoolRow = WithDates<Omit<WalletPool, 'refused'>, 'created_at'>;

/** @param name of one pool; null for all. @returns the merchant's pools by name, as it sees them. */
export async function readPools(db: Queryable, merchantId: string, name: string | null): Promise<PoolRow[]> {
  const { rows } = await db.query<PoolRow>(
    `select p.name, s.network, s.kind, p.rest_seconds, list.size, list.free, stock.next_index,
            coalesce(s.first_addresses, list.first_addresses, '{}') as first_addresses, p.created_at
       from wallet_pool p join address_source s using (source_id)
       left join lateral (
         select count(*)::integer as size, (count(*) filter (where free_at <= clock_timestamp()))::integer as free,
                (array_agg(address order by place))[1:3] as first_addresses
           from pool_address a where a.source_id = s.source_id) list on s.kind = 'list'
       left join lateral (
         select coalesce(min(place), s.next_index) as next_index
           from pool_address a where a.source_id = s.source_id) stock on s.kind = 'xpub'
      where p.merchant_id = $1 and ($2::text is null or p.name = $2) order by p.name`,
    [merchantId, name],
  );
  return rows;
}

/** Waits for the merchant's other changes of pools. Its gate may not exist yet. */
export async function lockPools(tx: Transaction, merchantId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('wallet pools ' || $1, 0))`, [merchantId]);
}

/** What a merchant has of what is limited. */
export async function countPools(tx: Transaction, merchantId: string): Promise<{ pools: number; addresses: number }> {
  const { rows } = await tx.query<{ pools: number; addresses: number }>(
    `select (select count(*)::integer from wallet_pool where merchant_id = $1) as pools,
            (select count(*)::integer from wallet_pool p join address_source s using (source_id) join pool_address using (source_id)
              where p.merchant_id = $1 and s.kind = 'list') as addresses`,
    [merchantId],
  );
  return rows[0] ?? { pools: 0, addresses: 0 };
}

/** @param restSeconds null keeps those of an existing pool. */
export async function upsertPool(
  tx: Transaction,
  pool: { merchantId: string; name: string; sourceId: bigint; restSeconds: number | null; defaultSeconds: number },
): Promise<void> {
  await tx.query(
    `insert into wallet_pool (merchant_id, name, source_id, rest_seconds, created_at)
     values ($1, $2, $3, coalesce($4::integer, $5::integer), clock_timestamp())
     on conflict (merchant_id, name) do update
        set source_id = excluded.source_id, rest_seconds = coalesce($4::integer, wallet_pool.rest_seconds)`,
    [pool.merchantId, pool.name, pool.sourceId, pool.restSeconds, pool.defaultSeconds],
  );
}

/** Removes a list that no pool has any more, or a key of which no index was ever derived. Other keys stay: their indexes are used. */
export async function deleteUnusedSource(tx: Transaction, sourceId: bigint): Promise<void> {
  await tx.query(
    `delete from address_source s
      where source_id = $1 and next_index = 0 and not exists (select from wallet_pool p where p.source_id = s.source_id)
        and not exists (select from address_source_move m where m.source_id = s.source_id)`,
    [sourceId],
  );
}

export async function insertList(tx: Transaction, merchantId: string, network: string): Promise<bigint> {
  const { rows } = await tx.query<{ source_id: bigint }>(
    `insert into address_source (merchant_id, network, kind, created_at) values ($1, $2, 'list', clock_timestamp())
     returning source_id`,
    [merchantId, network],
  );
  if (rows[0] === undefined) throw new Error('an insert returned no row');
  return rows[0].source_id;
}

type List = { sourceId: bigint; network: string; restSeconds: number; append: boolean };

/** @returns those that are not in the list yet and have an unfinished payment, whose end the list must not miss. */
export async function findOpenNewAddresses(
  tx: Transaction,
  { sourceId, network }: Pick<List, 'sourceId' | 'network'>,
  addresses: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.query<{ address: string }>(
    `select address from unnest($3::text[]) as given (address)
      where not exists (select from pool_address a where a.source_id = $1 and a.address = given.address)
        and exists (select from payment where network = $2 and recipient = given.address and ${isUnfinishedSql})`,
    [sourceId, network, addresses],
  );
  return rows.map(({ address }) => address);
}

/** Removes all other addresses from a list. */
export async function keepOnly(tx: Transaction, sourceId: bigint, addresses: readonly string[]): Promise<void> {
  await tx.query(
    'delete from pool_address where source_id = $1 and address not in (select unnest($2::text[] collate "C"))',
    [sourceId, addresses],
  );
}

/** No payment that ended and is older than this rests. */
const RECENT = `created_at > clock_timestamp() - interval '30 days'`;

/**
 * Writes addresses of a list, in this order. A new one is free when the payments on it leave it free: a shared address may have some.
 * @param append adds them behind those that are there, which keep their places.
 */
export async function addAddresses(
  tx: Transaction,
  { sourceId, network, restSeconds, append }: List,
  addresses: readonly string[],
): Promise<void> {
  await tx.query(
    `insert into pool_address (source_id, address, place, free_at)
     select $1, given.address, last.place + given.position, coalesce(used.free_at, '-infinity')
       from unnest($3::text[]) with ordinality as given (address, position)
      cross join (select coalesce(max(place), -1) as place from pool_address where source_id = $1 and $5) last
       left join lateral (
         select max(case when ${isUnfinishedSql} and rest_seconds is not null then 'infinity'
                         when released_at is not null then '-infinity'
                         else ${endedAtSql('payment')} + coalesce(rest_seconds, $4) * interval '1 second' end) as free_at
           from payment where network = $2 and recipient = given.address and ${RECENT}) used on true
     on conflict (source_id, address) do ${append ? 'nothing' : 'update set place = excluded.place'}`,
    [sourceId, network, addresses, restSeconds, append],
  );
}

/** When a payment that is no longer unfinished ended. */
export const endedAtSql = (payment: string): string =>
  `coalesce(${payment}.paid_at, ${payment}.cancelled_at, ${payment}.expires_at)`;

/**
 * The addresses that belong to other merchants.
 * @param binds whether the first merchant to use a wallet owns it; otherwise only one that has proven it does.
 */
export async function findOthersAddresses(
  tx: Transaction,
  { merchantId, addresses, binds }: { merchantId: string; addresses: readonly string[]; binds: boolean },
): Promise<Set<string>> {
  const { rows } = await tx.query<{ address: string }>(
    'select address from wallet where address = any($1) and merchant_id <> $2 and ($3 or proven_at is not null)',
    [addresses, merchantId, binds],
  );
  return new Set(rows.map(({ address }) => address));
}
