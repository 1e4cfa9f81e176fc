import type { Author } from '@quittance/contracts/author.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

/**
 * Takes a wallet from the merchant it belongs to, and writes down who did it and why. The next merchant that creates a payment
 * on it gets it. Payments that still wait on it are not touched.
 * @param address canonical.
 * @returns the merchant that lost it, or null when the wallet belonged to nobody.
 */
export async function releaseWallet(db: Queryable, address: string, author: Author): Promise<string | null> {
  const { rows } = await db.query<{ merchant_id: string }>(
    `with released as (delete from wallet where address = $1 returning address, merchant_id)
     insert into wallet_release (address, merchant_id, actor, reason, released_at)
     select address, merchant_id, $2, $3, clock_timestamp() from released
     returning merchant_id`,
    [address, author.actor, author.reason],
  );
  return rows[0]?.merchant_id ?? null;
}
