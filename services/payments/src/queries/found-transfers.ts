import type { Queryable } from '@quittance/postgres/pool.ts';
import type { TransferRow } from '../store/transfer.ts';
import { merchantsConcernedSql } from '../store/transfer.ts';
import { type Candidate, candidateListSql } from './candidates.ts';

/** A transfer of the ledger, with those whom it concerns. */
export type FoundTransferRow = Pick<
  TransferRow,
  | 'network'
  | 'transaction_id'
  | 'transaction_event_index'
  | 'phase'
  | 'block_timestamp'
  | 'sender'
  | 'recipient'
  | 'amount_units'
  | 'decimals'
  | 'match_status'
  | 'first_seen_at'
  | 'live'
  | 'payment_id'
  | 'reason'
> & {
  /** Whose payment it pays or may be for; where there is none, for whom its wallet is watched. At least one. */
  merchant_ids: string[];
  /** The payments that it may be for. */
  candidates: Candidate[];
  block_number: bigint;
  confirmations: number;
  confirmations_required: number;
  observed_at: Date;
  /** The time of the statement. */
  read_at: Date;
};

/** A transaction with more transfers that are asked for is shown in part. */
const MAX_ROWS = 200;

/** Those that concern a merchant, those to a wallet, or all of them. */
type Wanted = { merchantId?: string; wallet?: Pick<TransferRow, 'network' | 'recipient'> };

/**
 * The transfers of a transaction that the ledger has, on any network, also one that is switched off by now. What is wanted is chosen before
 * the list is cut: one transaction may pay hundreds of wallets of others first.
 */
export async function findTransfersOf(
  db: Queryable,
  transactionId: string,
  { merchantId, wallet }: Wanted = {},
): Promise<FoundTransferRow[]> {
  // A transaction is found by the primary key, network by network; the networks are found in the same index, a step for each.
  const { rows } = await db.query<FoundTransferRow>({
    name: 'transfers-of-transaction',
    text: `
      with recursive network (id) as (
        (select network from transfer order by network limit 1)
        union all
        select (select t.network from transfer t where t.network > network.id order by t.network limit 1)
          from network where network.id is not null)
      select * from (
      select t.network, t.transaction_id, t.transaction_event_index, t.phase, t.block_timestamp, t.sender, t.recipient,
             t.amount_units, t.decimals, t.match_status, t.first_seen_at, t.live, t.payment_id, t.reason, t.block_number,
             t.confirmations, t.confirmations_required, t.observed_at, now() as read_at, ${candidateListSql('t')} as candidates,
             coalesce((select array[p.merchant_id] from payment p where p.payment_id = t.payment_id),
                      ${merchantsConcernedSql('t')}) as merchant_ids
        from network join transfer t on t.network = network.id and t.transaction_id = $1
       where $3::text is null or (t.network, t.recipient) = ($3, $4)) found
       where $2::text is null or $2 = any (merchant_ids)
       order by network, transaction_event_index
       limit ${MAX_ROWS}`,
    values: [transactionId, merchantId, wallet?.network, wallet?.recipient],
  });
  return rows;
}

/**
 * @param merchantId null for any merchant.
 * @param addresses canonical.
 * @returns those that are a merchant's: bound to it, or used for a payment of its on one of the networks.
 */
export async function findOwnWallets(
  db: Queryable,
  merchantId: string | null,
  addresses: readonly string[],
  networks: readonly string[],
): Promise<string[]> {
  if (addresses.length === 0) return [];
  const { rows } = await db.query<{ address: string }>(
    `select address from unnest($2::text[]) as asked (address)
      where exists (select from wallet w where w.address = asked.address and w.merchant_id = coalesce($1, w.merchant_id))
         or exists (select from unnest($3::text[]) as on_network (id), lateral (
              select from payment p where p.network = on_network.id and p.recipient = asked.address
                 and p.merchant_id = coalesce($1, p.merchant_id) limit 1) used)`,
    [merchantId, addresses, networks],
  );
  return rows.map(({ address }) => address);
}

/** The network of a merchant's newest payment; null before its first. */
export async function findLikeliestNetwork(db: Queryable, merchantId: string): Promise<string | null> {
  const { rows } = await db.query<{ network: string }>(
    'select network from payment where merchant_id = $1 order by created_at desc, payment_id desc limit 1',
    [merchantId],
  );
  return rows[0]?.network ?? null;
}
