import { FOUND_MAX, type FoundPayment } from '@quittance/contracts/http/payments/finding.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { detailColumns, type DetailsRow } from '../payment/view.sql.ts';
import { type TransferRow, merchantsConcernedSql, paysNothingSql } from '../settlement/transfer.sql.ts';
import { type Candidate, candidateListSql } from '../settlement/candidates.sql.ts';
import { findPayment, type PaymentRow } from '../payment/payment.sql.ts';

/** What an operator searches by; null for a field that is not used. */
export type Sought = {
  paymentId: string | null;
  /** SHA-256 of a public token, hex. */
  tokenSha256: string | null;
  orderId: string | null;
  /** The last 10 digits of the id; see parseReference(). */
  idEnd: string | null;
  /** 64 lowercase hex characters. */
  transactionId: string | null;
  /** Canonical address. */
  recipient: string | null;
};

/**
 * Searches by id and token first, then by fields that many payments may share. A transaction also finds the payment that its transfer was
 * meant for.
 */
const ways: Record<FoundPayment['found_by'], string> = {
  payment_id: 'select payment_id from payment where payment_id = $1',
  token: `select payment_id from payment where token_sha256 = decode($2, 'hex')`,
  reference: 'select payment_id from payment where right(payment_id, 10) = $3',
  transaction_id: `
    select coalesce(payment_id, related_payment_id) from transfer
     where network = any($7::text[]) and transaction_id = $4 and coalesce(payment_id, related_payment_id) is not null`,
  // Ordered like its index, which has the payments of an order together.
  order_id: `select payment_id from payment where order_id = $5 order by merchant_id, created_at limit ${FOUND_MAX}`,
  merchant_wallet: `
    select found.payment_id from unnest($7::text[]) as on_network (id), lateral (
      select payment_id, created_at from payment where network = on_network.id and recipient = $6
       order by created_at desc limit ${FOUND_MAX}) found
     order by found.created_at desc limit ${FOUND_MAX}`,
};

/** Payments of any merchant that match one of the search fields, newest first, each with the first field that found it. */
export async function findPayments(
  db: Queryable,
  { paymentId, tokenSha256, orderId, idEnd, transactionId, recipient }: Sought,
  networks: readonly string[],
): Promise<(DetailsRow & { found_by: FoundPayment['found_by'] })[]> {
  const found = Object.entries(ways).map(
    ([way, ids], rank) =>
      `select '${way}' as found_by, ${rank} as rank, payment_id from (${ids}) as by_${way} (payment_id)`,
  );
  const { rows } = await db.query<DetailsRow & { found_by: FoundPayment['found_by'] }>(
    `with found as (${found.join(' union all ')}),
          once as (select distinct on (payment_id) payment_id, found_by from found order by payment_id, rank)
     select once.found_by, ${detailColumns}
       from once join payment p using (payment_id) left join transfer t on t.payment_id = p.payment_id
      order by p.created_at desc, p.payment_id desc limit ${FOUND_MAX}`,
    [paymentId, tokenSha256, idEnd, transactionId, orderId, recipient, networks],
  );
  return rows;
}

/** A transfer of the ledger, with the merchants it concerns. */
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
  /** The owners of the payment it pays or may be for. If there is none, the merchant the wallet is watched for. At least one. */
  merchant_ids: string[];
  /** The payments it may be for. */
  candidates: Candidate[];
  block_number: bigint;
  confirmations: number;
  confirmations_required: number;
  observed_at: Date;
  /** The time of the statement. */
  read_at: Date;
};

/** When a transaction has more transfers than this, only a part is shown. */
const MAX_ROWS = 200;

/** Transfers that concern a merchant, transfers to a wallet, or all. */
type Wanted = { merchantId?: string; wallet?: Pick<TransferRow, 'network' | 'recipient'> };

/**
 * The transfers of a transaction that the ledger has, on any network, including disabled ones. The filter is applied before the limit: one
 * transaction may pay hundreds of other people's wallets first.
 */
export async function findTransfersOf(
  db: Queryable,
  transactionId: string,
  { merchantId, wallet }: Wanted = {},
): Promise<FoundTransferRow[]> {
  // The primary key finds a transaction network by network; the same index finds the networks, with one step for each.
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
             t.amount_units, t.decimals, t.match_status, t.first_seen_at, t.live,
             case when t.counted then t.related_payment_id else t.payment_id end as payment_id, t.reason, t.block_number,
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
 * @returns those that belong to a merchant: bound to it, or used for one of its payments on one of the networks.
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

export async function findPaymentByToken(db: Queryable, tokenSha256: string): Promise<PaymentRow | null> {
  const { rows } = await db.query<{ payment_id: string }>(
    `select payment_id from payment where token_sha256 = decode($1, 'hex')`,
    [tokenSha256],
  );
  return rows[0] === undefined ? null : findPayment(db, rows[0].payment_id);
}

/**
 * @returns the candidate transfer whose amount is nearest to the payment's, if it carries from 50 to 200 % of it; null when there is none,
 *   and from 24 hours after the payment's end.
 */
export async function findNearestCandidate(
  db: Queryable,
  payment: Pick<PaymentRow, 'payment_id'>,
): Promise<{ amount_units: string; decimals: number } | null> {
  const { rows } = await db.query<{ amount_units: string; decimals: number }>(
    `select t.amount_units, t.decimals
       from payment p, lateral (
         select * from transfer where related_payment_id = p.payment_id and ${paysNothingSql}
         union all
         select * from transfer where candidates @> array[p.payment_id] and ${paysNothingSql}) t,
       lateral (select p.amount_units * ('1e' || t.decimals - 6)::numeric as units) asked
      where p.payment_id = $1 and least(p.expires_at, p.cancelled_at) > now() - interval '24 hours'
        and t.amount_units between asked.units / 2 and asked.units * 2
      order by abs(t.amount_units - asked.units), t.block_timestamp desc limit 1`,
    [payment.payment_id],
  );
  return rows[0] ?? null;
}
