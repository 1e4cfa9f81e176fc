import { type KeptName, keptNames } from '@quittance/contracts/api/creation.ts';
import { PARTS_MAX, type UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import type { OwnPayment } from '@quittance/contracts/http/payments/payments.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { PaymentRow } from './payment.sql.ts';
import { merchantsConcernedSql, paysNothingSql, type TransferId } from '../settlement/transfer.sql.ts';
import { type Candidate, candidateListSql } from '../settlement/candidates.sql.ts';

/**
 * The reads that customers' browsers and merchants' backends repeat all the time. One statement serves many of them, which Prisma cannot
 * express, and pg runs it, because each microsecond here is spent thousands of times.
 */

export type ViewedPayment = Omit<PaymentRow, 'merchant_id' | 'status' | 'released_at'> & {
  /** One of PaymentStatus: the table's check allows nothing else. */
  status: string;
  /** The sum of the confirmed transfers to its address, decimal text in USDT; null for a payment that shares its address. */
  received_amount: string | null;
};

/** A payment without the fields that only its merchant sees. */
type PublicRow = Omit<
  ViewedPayment,
  | Exclude<KeptName, 'return_url' | 'price'>
  | 'requested_amount'
  | 'rest_seconds'
  | 'derivation_index'
  | 'received_amount'
> & {
  merchant_id: string;
  /** The sum of all transfers to its address that may count, confirmed or not; null for a payment that shares its address. */
  arrived_amount: string | null;
};

/** The columns of the paying transfer; all are null when there is none. */
export type ViewedTransfer = {
  transaction_id: string;
  transaction_event_index: number;
  block_number: bigint;
  confirmations: number;
  confirmations_required: number;
  /** When the ledger's row was written, by the clock of `read_at`. */
  observed_at: Date;
};

/** A payment joined with its transfer. `read_at` is the time of the statement, on the clock that decides whether payments have expired. */
export type WithTransfer<More = unknown> = { status: string; network: string; read_at: Date } & (
  | (ViewedTransfer & More)
  | { transaction_id: null }
);

/** The rest of the paying transfer, which only its merchant reads. */
export type PaidTransfer = {
  /** Base units of the token, decimal integer text, and how many decimals the token has. */
  transfer_units: string;
  transfer_decimals: number;
  block_timestamp: Date;
  /** Whether it was accepted manually. */
  accepted: boolean;
};

export type DetailsRow = ViewedPayment & WithTransfer<PaidTransfer> & { merchant_id: string };

const viewColumns = `p.payment_id, p.merchant_id, p.public_token, p.status, p.network, p.recipient, p.amount, p.amount_units, p.description,
  p.created_at, p.expires_at, p.paid_at, p.cancelled_at,
  t.transaction_id, t.transaction_event_index, t.block_number, t.confirmations, t.confirmations_required, t.observed_at, now() as read_at`;

/**
 * What has arrived at the address of a payment `p` that has it for itself, decimal text in USDT; null for any other payment.
 * @param condition on a transfer `part`.
 */
const arrivedSql = (condition: string): string => `case when p.rest_seconds is not null then (
    select trim_scale(coalesce(sum(part.amount_units * ('1e' || -part.decimals)::numeric), 0))::text
      from (select * from transfer where payment_id = p.payment_id
            union all
            select * from transfer where related_payment_id = p.payment_id) part where ${condition}) end`;

const receivedSql = arrivedSql(`part.phase = 'confirmed'`);
/** For the customer, who would be asked for too little if ambiguous money were included. */
const arrivedForPageSql = arrivedSql(`part.phase <> 'retracted' and part.reason is distinct from 'ambiguous'`);

/** @returns `received_amount` of a payment. */
export async function findReceived(db: Queryable, { payment_id, rest_seconds }: PaymentRow): Promise<string | null> {
  if (rest_seconds === null) return null;
  const { rows } = await db.query<{ received: string }>(
    `select ${receivedSql} as received from payment p where payment_id = $1`,
    [payment_id],
  );
  return rows[0]?.received ?? null;
}

/** What a payment's merchant reads, from a payment `p` and its transfer `t`. */
export const detailColumns = `${viewColumns}, ${keptNames.map((name) => `p.${name}`).join(', ')}, p.requested_amount,
  p.rest_seconds, p.derivation_index, p.rate, ${receivedSql} as received_amount,
  t.amount_units as transfer_units, t.decimals as transfer_decimals, t.block_timestamp,
  p.status = 'PAID' and exists (select from transfer_acceptance where payment_id = p.payment_id) as accepted`;

/** @returns those of the payments that exist and belong to that merchant, in no particular order. */
export async function findDetails(db: Queryable, requested: readonly OwnPayment[]): Promise<DetailsRow[]> {
  const { rows } = await db.query<DetailsRow>({
    name: 'read-details',
    text: `
      select ${detailColumns}
      from unnest($1::text[], $2::text[]) as r (merchant_id, payment_id)
        join payment p on p.payment_id = r.payment_id and p.merchant_id = r.merchant_id
        left join transfer t on t.payment_id = p.payment_id`,
    values: [requested.map(({ merchant_id }) => merchant_id), requested.map(({ payment_id }) => payment_id)],
  });
  return rows;
}

/**
 * A payment without a transfer to show gives the transfer index no key, so no page of it is read: most views are of PENDING payments.
 * @param tokensSha256 SHA-256 of public tokens, in hex.
 * @returns those that exist, in no particular order.
 */
export async function findByPublicTokens(
  db: Queryable,
  tokensSha256: readonly string[],
): Promise<(PublicRow & WithTransfer & { requested: string })[]> {
  const { rows } = await db.query<PublicRow & WithTransfer & { requested: string }>({
    name: 'read-public-payments',
    text: `
      select r.token_sha256 as requested, ${viewColumns}, p.return_url, p.price, p.rate, ${arrivedForPageSql} as arrived_amount
      from unnest($1::text[]) as r (token_sha256)
        join payment p on p.token_sha256 = decode(r.token_sha256, 'hex')
        left join transfer t on t.payment_id = case when p.status = 'CHECKING' then p.payment_id end`,
    values: [tokensSha256],
  });
  return rows;
}

/** Details show at most this many unmatched transfers. */
const MAX_UNMATCHED = 100;

export type UnmatchedRow = {
  /** The payment it is shown with. */
  shown_with: string;
  transaction_id: string;
  transaction_event_index: number;
  /** Base units of the token, which has `decimals` decimals. */
  amount_units: string;
  decimals: number;
  block_timestamp: Date;
  first_seen_at: Date | null;
  live: boolean;
  /** The ledger's reason, whichever payment the transfer may be for; 'paid_another' when it pays another payment. */
  reason: UnmatchedReason | 'paid_another' | null;
  candidate_count: number;
};

/**
 * Transfers that may be for payments and do not pay them, and those that paid a later payment of the same amount within an hour after these
 * had ended unpaid. By payment, newest first. Each kind has an index by payment, so other money on the wallet costs nothing.
 */
export async function findUnmatched(db: Queryable, paymentIds: readonly string[]): Promise<UnmatchedRow[]> {
  if (paymentIds.length === 0) return [];
  const { rows } = await db.query<UnmatchedRow>({
    name: 'read-unmatched',
    text: `
      select p.payment_id as shown_with, t.transaction_id, t.transaction_event_index, t.amount_units, t.decimals,
             t.block_timestamp, t.first_seen_at, t.live, t.reason, t.candidate_count
      from unnest($1::text[]) as asked (payment_id)
        join payment p using (payment_id)
        cross join lateral (
          select * from (
            (select transaction_id, transaction_event_index, amount_units, decimals, block_timestamp, first_seen_at, live, reason,
                    1 as candidate_count
               from transfer
              where related_payment_id = p.payment_id and ${paysNothingSql}
              order by block_timestamp desc limit ${MAX_UNMATCHED})
            union all
            (select transaction_id, transaction_event_index, amount_units, decimals, block_timestamp, first_seen_at, live, reason,
                    cardinality(candidates)
               from transfer
              where candidates @> array[p.payment_id] and ${paysNothingSql})
            union all
            (select paying.transaction_id, paying.transaction_event_index, paying.amount_units, paying.decimals,
                    paying.block_timestamp, paying.first_seen_at, paying.live, 'paid_another', 2
               -- As in windowOf(): a cancellation counts from the start of its second, an expiry to the millisecond.
               from least(p.expires_at, date_trunc('second', p.cancelled_at)) as ended (at)
               join payment later on later.network = p.network and later.recipient = p.recipient
                and later.amount_units = p.amount_units and later.created_at >= p.created_at
                -- A transfer may be a little older than the payment that it pays.
                and later.created_at < ended.at + interval '1 hour 150 seconds' and later.payment_id <> p.payment_id
               join transfer paying on paying.payment_id = later.payment_id
              where p.status in ('EXPIRED', 'CANCELLED') and paying.phase <> 'retracted' and paying.recipient = p.recipient
                and paying.amount_units = p.amount_units * ('1e' || paying.decimals - 6)::numeric
                -- The start of the transfer's interval; see intervalOf().
                and least(paying.block_timestamp, case when paying.live then paying.first_seen_at end)
                      between ended.at and ended.at + interval '1 hour')
          ) either
          order by block_timestamp desc, transaction_id, transaction_event_index
          limit ${MAX_UNMATCHED}
        ) t`,
    values: [paymentIds],
  });
  return rows;
}

export type PartRow = {
  payment_id: string;
  transaction_id: string;
  transaction_event_index: number;
  /** Base units of the token, which has `decimals` decimals. */
  amount_units: string;
  decimals: number;
  block_timestamp: Date;
  confirmed: boolean;
  counts: boolean;
};

/** The transfers to the addresses of payments that have them for themselves, the newest of each, in the order of the chain. */
export async function findParts(db: Queryable, paymentIds: readonly string[]): Promise<PartRow[]> {
  if (paymentIds.length === 0) return [];
  const { rows } = await db.query<PartRow>({
    name: 'read-parts',
    text: `
      select p.payment_id, part.transaction_id, part.transaction_event_index, part.amount_units, part.decimals, part.block_timestamp,
             part.phase = 'confirmed' as confirmed,
             part.payment_id is not null or part.counted
               or (p.status <> 'PAID' and (part.reason is null or part.reason = 'underpaid')) as counts
        from unnest($1::text[]) as asked (payment_id) join payment p using (payment_id)
       cross join lateral (
         select * from (select * from transfer where payment_id = p.payment_id
                        union all
                        select * from transfer where related_payment_id = p.payment_id) either
          where phase <> 'retracted'
          order by block_number desc, transaction_event_index desc, transaction_id desc limit ${PARTS_MAX}) part
       order by part.block_number, part.transaction_event_index, part.transaction_id`,
    values: [paymentIds],
  });
  return rows;
}

export type UnmatchedOnWalletRow = TransferId & {
  amount_units: string;
  decimals: number;
  block_timestamp: Date;
  phase: string;
  /** The first of the merchants it concerns. */
  merchant_id: string;
  candidates: Candidate[];
  reason: UnmatchedReason | null;
};

export const unmatchedOnWalletColumns = (
  t: string,
): string => `${t}.network, ${t}.transaction_id, ${t}.transaction_event_index, ${t}.amount_units, ${t}.decimals, ${t}.block_timestamp,
  ${t}.phase, (${merchantsConcernedSql(t)})[1] as merchant_id, ${candidateListSql(t)} as candidates, ${t}.reason`;

/** Unmatched transfers to a wallet, the newest hundred of each network, newest first. */
export async function findUnmatchedOnWallet(
  db: Queryable,
  recipient: string,
  networks: readonly string[],
): Promise<UnmatchedOnWalletRow[]> {
  const { rows } = await db.query<UnmatchedOnWalletRow>(
    `select ${unmatchedOnWalletColumns('t')}
       from unnest($2::text[]) as on_network (id)
      cross join lateral (
        select * from transfer where network = on_network.id and recipient = $1 and ${paysNothingSql}
         order by block_timestamp desc limit ${MAX_UNMATCHED}) t
      order by t.block_timestamp desc, t.transaction_id, t.transaction_event_index`,
    [recipient, networks],
  );
  return rows;
}
