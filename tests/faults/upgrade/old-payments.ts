import { withDatabase } from '../../support/database.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';
import type { Shop } from '../../support/shop.ts';

/**
 * Gives a shop payments that were cancelled a year ago, counted like those of an earlier package. They are copies of one that it creates,
 * so that this code does not depend on the columns of a version.
 */
export async function addOldPayments({ file }: JourneyStack, shop: Shop, count: number): Promise<void> {
  const { body: payment } = await shop.create('3.14');
  await shop.call('POST', `/payments/${payment.payment_id}/cancel`);
  await withDatabase(file.postgres_url, async (db) => {
    await db.query(
      `insert into payments.payment
       select (jsonb_populate_record(p, jsonb_build_object(
                'payment_id', 'pay_' || md5('payment ' || number), 'public_token', md5('token ' || number),
                'token_sha256', sha256(md5('token ' || number)::bytea),
                'created_at', p.created_at - interval '1 year' - number * interval '1 second',
                'expires_at', p.expires_at - interval '1 year' - number * interval '1 second',
                'cancelled_at', p.cancelled_at - interval '1 year' - number * interval '1 second'))).*
         from payments.payment p, generate_series(1, $2::integer) number
        where p.payment_id = $1`,
      [payment.payment_id, count],
    );
    await db.query(
      `update payments.gate set used_lifetime = used_lifetime + $2, package_base = package_base + $2 where merchant_id = $1`,
      [shop.merchantId, count],
    );
    await db.query('vacuum analyze payments.payment');
  });
}
