import { FOUND_MAX, type FoundPayment } from '@quittance/contracts/http/payments/finding.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { detailColumns, type DetailsRow } from './payment-views.ts';

/** What an operator looks for; null looks for nothing. */
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

/** By ids and tokens first, then what may be common to many. A transaction also finds the payment that its transfer was meant for. */
const ways: Record<FoundPayment['found_by'], string> = {
  payment_id: 'select payment_id from payment where payment_id = $1',
  token: `select payment_id from payment where token_sha256 = decode($2, 'hex')`,
  reference: 'select payment_id from payment where right(payment_id, 10) = $3',
  transaction_id: `
    select coalesce(payment_id, related_payment_id) from transfer
     where network = any($7::text[]) and transaction_id = $4 and coalesce(payment_id, related_payment_id) is not null`,
  // In the order of its index, in which the payments of an order are together.
  order_id: `select payment_id from payment where order_id = $5 order by merchant_id, created_at limit ${FOUND_MAX}`,
  merchant_wallet: `
    select found.payment_id from unnest($7::text[]) as on_network (id), lateral (
      select payment_id, created_at from payment where network = on_network.id and recipient = $6
       order by created_at desc limit ${FOUND_MAX}) found
     order by found.created_at desc limit ${FOUND_MAX}`,
};

/** Payments of any merchant that fit one of what is sought, newest first, each with the first way in which it was found. */
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
