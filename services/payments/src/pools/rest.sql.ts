import type { Author } from '@quittance/contracts/author.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { isUnfinishedSql } from '../payment/payment.sql.ts';
import { endedAtSql } from './pool.sql.ts';

/**
 * Ends the rest of an address after the merchant's newest payment on it, on every network, and records who did it. Pools can give it again
 * at once. Call it with the address locked.
 * @param address canonical.
 * @returns the networks, none where nothing rests.
 */
export async function releaseRests(
  tx: Transaction,
  { merchantId, address }: { merchantId: string; address: string },
  { actor, reason }: Author,
): Promise<string[]> {
  const { rows } = await tx.query<{ network: string }>(
    `with newest as (
       select distinct on (network) payment_id, network from payment
        where merchant_id = $1 and recipient = $2 and rest_seconds is not null
        order by network, created_at desc, payment_id desc
     ), released as (
       update payment p set released_at = moment
         from newest, date_trunc('milliseconds', clock_timestamp()) as moment
        where p.payment_id = newest.payment_id and not p.${isUnfinishedSql} and p.released_at is null
          and ${endedAtSql('p')} + p.rest_seconds * interval '1 second' > moment
       returning p.network, p.payment_id, p.released_at
     ), audited as (
       insert into wallet_rest_release (merchant_id, network, address, payment_id, actor, reason, released_at)
       select $1, network, $2, payment_id, $3, $4, released_at from released
     )
     select network from released order by network`,
    [merchantId, address, actor, reason],
  );
  return rows.map(({ network }) => network);
}
