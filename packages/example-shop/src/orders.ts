import type { Payment, Price } from '@quittance/sdk';
import type { Article } from './catalogue.ts';
import type { Currency } from './config.ts';
import type { Queryable } from './database.ts';

export type Order = {
  order_id: string;
  /** Shown to people. */
  number: string;
  article: string;
  /** Decimal text: money is never a floating-point number. */
  price: string;
  /** USDT, or another one. */
  currency: Currency;
  created_at: Date;
  paid_by: string | null;
  paid_at: Date | null;
};

type OrderPayment = Pick<Payment, 'payment_id' | 'payment_url' | 'amount' | 'status'>;

/** An order with its payments, the newest first. */
export type WholeOrder = Order & { payments: OrderPayment[]; notes: string[] };

const COLUMNS = 'order_id, number, article, price, currency, created_at, paid_by, paid_at';

/**
 * The order of a visitor who buys something: the one that waits for its payment, if this visitor recently ordered the same article, or a
 * new one. Two clicks at the same moment get the same order.
 */
export async function orderFor(tx: Queryable, visitor: string, article: Article, currency: Currency): Promise<Order> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [visitor]);
  const { rows } = await tx.query<Order>(
    `select ${COLUMNS} from shop_order
      where visitor = $1 and article = $2 and price = $3 and currency = $4 and paid_at is null
        and created_at > now() - interval '1 hour'
      order by created_at desc limit 1`,
    [visitor, article.id, article.price, currency],
  );
  return rows[0] ?? createOrder(tx, article, currency, visitor);
}

export async function createOrder(
  db: Queryable,
  { id, price }: Article,
  currency: Currency,
  visitor: string | null = null,
): Promise<Order> {
  const sql = `insert into shop_order (article, price, currency, visitor) values ($1, $2, $3, $4) returning ${COLUMNS}`;
  const { rows } = await db.query<Order>(sql, [id, price, currency, visitor]);
  return rows[0] as Order;
}

const WHOLE_ORDER = `
  select ${COLUMNS},
         array(select text from note where note.order_id = shop_order.order_id order by created_at) as notes,
         (select coalesce(json_agg(payment order by created_at desc), '[]') from payment
           where payment.order_id = shop_order.order_id) as payments
    from shop_order`;

/** @param orderId may be any text, because it comes from outside. */
export async function findOrder(db: Queryable, orderId: string): Promise<WholeOrder | null> {
  if (!isOrderId(orderId)) return null;
  const { rows } = await db.query<WholeOrder>(`${WHOLE_ORDER} where order_id = $1`, [orderId]);
  return rows[0] ?? null;
}

/** @returns the newest orders, or those before the one with this number. */
export async function listOrders(db: Queryable, before: string | null, limit: number): Promise<WholeOrder[]> {
  const sql = `${WHOLE_ORDER} where $1::bigint is null or number < $1 order by number desc limit $2`;
  return (await db.query<WholeOrder>(sql, [before, limit])).rows;
}

export type OrderOfPayment = Pick<Order, 'order_id' | 'number'>;

/** This shop's orders to which the payments belong. */
export async function ordersOfPayments(db: Queryable, paymentIds: readonly string[]): Promise<OrderOfPayment[]> {
  const sql = `select distinct order_id, number from shop_order join payment using (order_id)
                where payment_id = any ($1) order by number`;
  return (await db.query<OrderOfPayment>(sql, [paymentIds])).rows;
}

/** Stores the state of a payment. The answer to a repeated creation is as old as the first one, so PAID stays PAID. */
export async function storePayment(db: Queryable, payment: Payment): Promise<void> {
  await db.query(
    `insert into payment (payment_id, order_id, payment_url, amount, status, created_at) values ($1, $2, $3, $4, $5, $6)
     on conflict (payment_id) do update set status = excluded.status where payment.status <> 'PAID'`,
    [payment.payment_id, payment.order_id, payment.payment_url, payment.amount, payment.status, payment.created_at],
  );
}

/** A paid payment of an order, from a webhook or an answer. */
export type Paid = {
  order_id: string;
  payment_id: string;
  /** The amount that the customer was asked to send. */
  amount: string;
  /** What it was converted from, if the shop asked for a price. */
  price?: Price | null;
};

/**
 * Marks an order as paid and ships it: once, however often and by which source it is reported, also twice at the same moment. Nothing is
 * shipped if the payment's amount, or the price that it was converted from, differs from the order's; a note is stored for a person to check. What has arrived may be more than the
 * amount, or less where a person accepted it: PAID is the decision.
 */
export async function settle(tx: Queryable, { order_id, payment_id, amount, price }: Paid): Promise<void> {
  const asked = price ?? { amount, currency: 'USDT' };
  const { rowCount } = await tx.query(
    `update shop_order set paid_by = $2, paid_at = now()
      where order_id = $1 and paid_at is null and $3::numeric = price and $4 = currency`,
    [order_id, payment_id, asked.amount, asked.currency],
  );
  if (rowCount === 1) {
    await tx.query('insert into shipment (order_id) values ($1)', [order_id]);
    return;
  }
  await tx.query(
    `insert into note (order_id, text)
     select order_id, case when paid_at is null
            then format('Payment %s is for %s %s, the order costs %s %s.', $2::text, $3::text, $4::text, price, currency)
            else format('Paid a second time, by payment %s: give that money back.', $2::text) end
       from shop_order where order_id = $1 and paid_by is distinct from $2
     on conflict do nothing`,
    [order_id, payment_id, asked.amount, asked.currency],
  );
}

/** @returns false when the event already had its effect. The second of two simultaneous ones waits here for the first. */
export async function isNewEvent(tx: Queryable, eventId: string): Promise<boolean> {
  const sql = 'insert into webhook_event (event_id) values ($1) on conflict do nothing';
  return (await tx.query(sql, [eventId])).rowCount === 1;
}

const isOrderId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
