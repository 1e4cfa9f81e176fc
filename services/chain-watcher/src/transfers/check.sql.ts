import type { TransferPosition } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import {
  CHECK_GRACE_SECONDS,
  CHECKED_AT_ONCE,
  type Violation,
  type ToldTransfer,
  type TransferKey,
} from '@quittance/contracts/http/check.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { columns } from '@quittance/postgres/rows.ts';

type PageRow = Omit<ToldTransfer, 'network'> & { block_number: bigint; block_timestamp: Date; told: boolean };

/**
 * A page of a network's transfers, newest block first. Every page examines the same number of rows, however many of them it returns.
 * @param below where the page begins; null for the first page.
 * @returns the page's transfers in blocks since `since` whose messages were sent a while ago; `next` is where the next page begins, or null
 * when this is the last one.
 */
export async function listToldTransfers(
  db: Queryable,
  { network, since, below }: { network: string; since: Date; below: TransferPosition | null },
): Promise<{ transfers: ToldTransfer[]; next: TransferPosition | null }> {
  const { rows } = await db.query<PageRow>(
    `with page as materialized (
       select * from transfer
        where network = $1 and phase <> 'retracted'
          and ($2::bigint is null or (block_number, transaction_id, transaction_event_index) < ($2, $3, $4))
        order by block_number desc, transaction_id desc, transaction_event_index desc limit ${CHECKED_AT_ONCE})
     select transaction_id, transaction_event_index, version, amount_units, block_number, block_timestamp,
            changed_at < least(now() - interval '${CHECK_GRACE_SECONDS} seconds',
                               (select min(created_at) from outbox where name = 'TransferObserved')) as told
       from page order by block_number desc, transaction_id desc, transaction_event_index desc`,
    [network, below?.block_number ?? null, below?.transaction_id ?? null, below?.transaction_event_index ?? null],
  );
  const last = rows.at(-1);
  const isLast = last === undefined || rows.length < CHECKED_AT_ONCE || last.block_timestamp < since;
  return {
    transfers: rows
      .filter((row) => row.told && row.block_timestamp >= since)
      .map(({ transaction_id, transaction_event_index, version, amount_units }) => ({
        ...{ network, transaction_id, transaction_event_index, version, amount_units },
      })),
    next: isLast ? null : { ...last, block_number: Number(last.block_number) },
  };
}

/** See CheckPayingTransfers. */
export async function checkPayingTransfers(db: Queryable, transfers: readonly TransferKey[]): Promise<Violation[]> {
  const { rows } = await db.query<{ what: string }>(
    `select format('%s event %s on %s %s', id, index, paying.network,
                   case when exists (select from transfer t where t.network = paying.network and t.transaction_id = id
                                        and t.transaction_event_index = index)
                        then 'is no longer on chain' else 'is not known' end) as what
       from unnest($1::text[], $2::text[], $3::integer[]) as paying (network, id, index)
      where not exists (select from transfer t where t.network = paying.network and t.transaction_id = id
                           and t.transaction_event_index = index and t.phase <> 'retracted')`,
    columns(transfers, 'network', 'transaction_id', 'transaction_event_index'),
  );
  return rows.map(({ what }) => ({ rule: 'what pays a payment is on chain', what }));
}
