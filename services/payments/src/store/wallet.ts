import type { Author } from '@quittance/contracts/author.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

/** Who released a wallet from which merchant, and why. */
type WalletRelease = Author & { merchant_id: string; released_at: Date };

/** A wallet and its history. `merchant_id` and `bound_at` are null while no merchant owns it; releases are the newest hundred. */
export type Wallet = {
  merchant_id: string | null;
  bound_at: Date | null;
  releases: WalletRelease[];
};

const RELEASES_MAX = 100;

/**
 * Releases a wallet from its merchant, and records who did it and why. The next merchant that creates a payment on it owns it.
 * Unfinished payments on it stay as they are.
 * @param address canonical.
 * @returns the former owner, or null when the wallet had none.
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

/** @param address canonical. */
export async function readWallet(db: Queryable, address: string): Promise<Wallet> {
  const { rows: owners } = await db.query<{ merchant_id: string; bound_at: Date }>(
    'select merchant_id, bound_at from wallet where address = $1',
    [address],
  );
  const { rows: releases } = await db.query<WalletRelease>(
    `select merchant_id, actor, reason, released_at from wallet_release
     where address = $1 order by released_at desc, release_id limit ${RELEASES_MAX}`,
    [address],
  );
  return { merchant_id: owners[0]?.merchant_id ?? null, bound_at: owners[0]?.bound_at ?? null, releases };
}
