import { formatUnits } from '@quittance/contracts/amount.ts';
import { PARTS_MAX } from '@quittance/contracts/api/payment.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { lockRecorded, type TransferId, type TransferRow } from './transfer.sql.ts';

const idColumns = 'network, transaction_id, transaction_event_index';
/** A transfer's amount in millionths of a USDT. */
const millionths = (transfer: string): string =>
  `${transfer}.amount_units * ('1e' || 6 - ${transfer}.decimals)::numeric`;

/** Transfers that came in the time of a payment `p` that has its address for itself, and that is not PAID. */
const partsSql = `
  select t.* from transfer t
   where t.related_payment_id = p.payment_id and (t.reason is null or t.reason = 'underpaid')
     -- Not those that only an acceptance has brought.
     and t.phase <> 'retracted' and t.version > 0`;

/** The transfer with which the parts of a payment reached what is enough; null when they have not. */
export type Reached = {
  /** Counting confirmed ones only. */
  confirmed: TransferRow | null;
  /** Counting all that are on the chain. */
  seen: TransferRow | null;
};

/**
 * Adds up the transfers to the addresses of these payments, in the order of the chain. Nothing pays them at that moment: see releaseParts().
 * @param paymentIds of locked payments that are not PAID.
 */
export async function addUpParts(tx: Transaction, paymentIds: readonly string[]): Promise<Map<string, Reached>> {
  type Row = { payment_id: string; confirmed: TransferId | null; seen: TransferId | null };
  const { rows } = await tx.query<Row>({
    name: 'add-up-parts',
    text: `
      select payment_id,
             (array_agg(id order by place) filter (where phase = 'confirmed' and confirmed_units >= enough))[1] as confirmed,
             (array_agg(id order by place) filter (where seen_units >= enough))[1] as seen
        from (select p.payment_id, part.phase, p.amount_units * coalesce(p.accept_from_percent, 100) * 0.01 as enough,
                     jsonb_build_object('network', part.network, 'transaction_id', part.transaction_id,
                                        'transaction_event_index', part.transaction_event_index) as id,
                     row_number() over chain as place,
                     sum(${millionths('part')}) over chain as seen_units,
                     sum(${millionths('part')}) filter (where part.phase = 'confirmed') over chain as confirmed_units
                from payment p cross join lateral (${partsSql}) part
               where p.payment_id = any($1)
              window chain as (partition by p.payment_id
                                   order by part.block_number, part.transaction_event_index, part.transaction_id)) as added
       group by payment_id`,
    values: [paymentIds],
  });
  const reached = rows.flatMap(({ confirmed, seen }) => [confirmed, seen].filter((id) => id !== null));
  const found = await lockRecorded(tx, reached);
  const rowOf = (id: TransferId | null): TransferRow | null =>
    found.find((row) => id !== null && isSame(row, id)) ?? null;
  return new Map(
    rows.map(({ payment_id: id, confirmed, seen }) => [id, { confirmed: rowOf(confirmed), seen: rowOf(seen) }]),
  );
}

const isSame = (a: TransferId, b: TransferId): boolean =>
  a.network === b.network &&
  a.transaction_id === b.transaction_id &&
  a.transaction_event_index === b.transaction_event_index;

/**
 * The transfers that pay these payments become parts like the others, until it is known again which one completes the sum.
 * @returns them by payment.
 */
export async function releaseParts(tx: Transaction, paymentIds: readonly string[]): Promise<Map<string, TransferId>> {
  const { rows } = await tx.query<TransferId & { related_payment_id: string }>({
    name: 'release-parts',
    text: `update transfer set payment_id = null, related_payment_id = payment_id where payment_id = any($1)
           returning ${idColumns}, related_payment_id`,
    values: [paymentIds],
  });
  return new Map(rows.map(({ related_payment_id: paymentId, ...id }) => [paymentId, id]));
}

/** Makes a part the transfer that pays its payment, or is about to. */
export async function assignPayer(tx: Transaction, paymentId: string, id: TransferId): Promise<void> {
  await tx.query({
    name: 'assign-payer',
    text: `update transfer set payment_id = $1, related_payment_id = null, reason = null
            where network = $2 and transaction_id = $3 and transaction_event_index = $4`,
    values: [paymentId, id.network, id.transaction_id, id.transaction_event_index],
  });
}

/** Records that a payment's confirmed transfers pay it: those that came in its time, or all to its address. */
export async function countParts(tx: Transaction, paymentId: string, which: 'in time' | 'all'): Promise<void> {
  const inTime = which === 'in time' ? `and (reason is null or reason = 'underpaid') and version > 0` : '';
  await tx.query(
    `update transfer set counted = true, reason = null, notified = true
      where related_payment_id = $1 and phase = 'confirmed' ${inTime}`,
    [paymentId],
  );
}

/** What the transfers of a payment add up to that is being paid. */
export type PaidParts = {
  /** Decimal text in USDT. */
  received_amount: string;
  /** In the order of the chain; the newest if there are more than PARTS_MAX. */
  transfers: { transaction_id: string; transaction_event_index: number; amount: string }[];
};

/** Stores what had arrived when a payment was paid. @param payer the transfer that completed it. */
export async function recordPaidParts(tx: Transaction, paymentId: string, payer: TransferId): Promise<PaidParts> {
  const { rows: sums } = await tx.query<{ received: string }>(
    `update payment set paid_units = (
        select sum(${millionths('t')}) from transfer t
         where (t.related_payment_id = $1 and t.counted)
            or (t.network = $2 and t.transaction_id = $3 and t.transaction_event_index = $4))
      where payment_id = $1 returning trim_scale(paid_units * 0.000001)::text as received`,
    [paymentId, payer.network, payer.transaction_id, payer.transaction_event_index],
  );
  const { rows } = await tx.query<TransferRow>(
    `select * from (
       select ${idColumns}, block_number, amount_units, decimals from transfer t
        where (t.related_payment_id = $1 and t.counted)
           or (t.network = $2 and t.transaction_id = $3 and t.transaction_event_index = $4)
        order by block_number desc, transaction_event_index desc, transaction_id desc limit ${PARTS_MAX}) as newest
      order by block_number, transaction_event_index, transaction_id`,
    [paymentId, payer.network, payer.transaction_id, payer.transaction_event_index],
  );
  const [sum] = sums;
  if (sum === undefined) throw new Error(`${paymentId} is not locked`);
  return {
    received_amount: sum.received,
    transfers: rows.map(({ transaction_id, transaction_event_index, amount_units: units, decimals }) => ({
      transaction_id,
      transaction_event_index,
      amount: formatUnits(BigInt(units), decimals),
    })),
  };
}

/**
 * @returns whether the transfers that have paid a payment carry something else than they did. Not when an incident already says that one of
 * them is gone: then each of the others is in order.
 */
export async function haveAmountsChanged(tx: Transaction, paymentId: string): Promise<boolean> {
  const { rows } = await tx.query<{ changed: boolean }>(
    `select p.paid_units <> sum(${millionths('t')}) and not exists (select from incident where payment_id = $1) as changed
       from payment p join transfer t on t.payment_id = p.payment_id or (t.related_payment_id = p.payment_id and t.counted)
      where p.payment_id = $1 group by p.paid_units`,
    [paymentId],
  );
  return rows[0]?.changed ?? false;
}

/** @returns what a dedicated payment's confirmed transfers add up to with this one, in base units of the token. */
export async function sumWith(db: Queryable, paymentId: string, transfer: TransferRow): Promise<bigint> {
  const { rows } = await db.query<{ units: string }>(
    `select coalesce(sum(amount_units), 0)::text as units from transfer
      where related_payment_id = $1 and phase = 'confirmed' and (network, transaction_id, transaction_event_index) <> ($2, $3, $4)`,
    [paymentId, transfer.network, transfer.transaction_id, transfer.transaction_event_index],
  );
  return BigInt(rows[0]?.units ?? 0) + BigInt(transfer.amount_units);
}

/** The most parts of one payment of which its merchant is told when it ends unpaid, those of the largest amounts. */
const TOLD_MAX = 100;

/**
 * Says why the parts of a payment that has ended don't pay it; or, when they will pay it once they are confirmed, nothing.
 * @returns the parts that had no reason before, the largest first.
 */
export async function explainParts(
  tx: Transaction,
  paymentId: string,
  reason: 'underpaid' | null,
): Promise<TransferRow[]> {
  const { rows: unexplained } = await tx.query<TransferId>(
    `select ${idColumns.replace(/\w+/g, 'part.$&')} from payment p cross join lateral (${partsSql}) part
      where p.payment_id = $1 and part.reason is null and $2::boolean order by part.amount_units desc limit ${TOLD_MAX}`,
    [paymentId, reason !== null],
  );
  const told = await lockRecorded(tx, unexplained);
  await tx.query(
    `update transfer t set reason = $2::text, notified = t.notified or ($2::text is not null and t.phase = 'confirmed')
       from payment p
      where p.payment_id = $1 and t.related_payment_id = p.payment_id and (t.reason is null or t.reason = 'underpaid')
        and t.reason is distinct from $2::text and t.phase <> 'retracted' and t.version > 0`,
    [paymentId, reason],
  );
  return told;
}
