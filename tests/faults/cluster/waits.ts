import { withDatabase } from '../../support/database.ts';
import type { Order } from '../system/shops.ts';

/** Waits in seconds. */
export type Waits = {
  /** From a shop's first request for a payment to its 201; the shop repeats it every two seconds. */
  creations: number;
  /** From writing a message about a creation to its effect at the consumer. */
  messages: number;
};

/** The longest waits of those that began at this time or later; one without an end counts up to now. */
export async function longestWaits(url: string, orders: readonly Order[], from: Date): Promise<Waits> {
  const now = Date.now();
  const asked = orders
    .filter(({ askedAt }) => askedAt >= from.getTime())
    .map(({ askedAt, answeredAt }) => ((answeredAt ?? now) - askedAt) / 1_000);
  return withDatabase(url, async (db) => {
    const { rows } = await db.query<{ seconds: number }>(
      `select coalesce(extract(epoch from max(coalesce(received_at, clock_timestamp()) - created_at)), 0)::float8 as seconds
         from (select message_id, created_at from payments.sent_message where name = 'PaymentCreated'
                union all select message_id, created_at from payments.outbox where name = 'PaymentCreated') sent
         left join quota.inbox i on i.message_id = sent.message_id and i.handler = 'payment-created'
        where created_at >= $1`,
      [from],
    );
    return { creations: Math.max(0, ...asked), messages: rows[0]!.seconds };
  });
}
