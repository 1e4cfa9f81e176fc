import type { Author } from '@quittance/contracts/author.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

/** An author's release of a wallet from a merchant, with the reason. */
type WalletRelease = Author & { merchant_id: string; released_at: Date };

/**
 * A wallet and its history. `merchant_id`, `bound_at` and `proven_at` are null while no merchant owns it; `proven_at` is also null for an
 * owner that only used it first.
 */
export type Wallet = {
  merchant_id: string | null;
  bound_at: Date | null;
  proven_at: Date | null;
  releases: WalletRelease[];
};

const RELEASES_MAX = 100;

/**
 * Releases a wallet from its merchant, and records who did it and why. The next merchant that creates a payment on it owns it. Unfinished
 * payments on it do not change.
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
  const { rows: owners } = await db.query<Pick<Wallet, 'merchant_id' | 'bound_at' | 'proven_at'>>(
    'select merchant_id, bound_at, proven_at from wallet where address = $1',
    [address],
  );
  const { rows: releases } = await db.query<WalletRelease>(
    `select merchant_id, actor, reason, released_at from wallet_release
     where address = $1 order by released_at desc, release_id limit ${RELEASES_MAX}`,
    [address],
  );
  return { ...(owners[0] ?? { merchant_id: null, bound_at: null, proven_at: null }), releases };
}

const OWN_MAX = 100;

/** The wallets that belong to a merchant, the latest first. */
export async function listWallets(
  db: Queryable,
  merchantId: string,
): Promise<{ address: string; bound_at: Date; proven_at: Date | null }[]> {
  const { rows } = await db.query<{ address: string; bound_at: Date; proven_at: Date | null }>(
    `select address, bound_at, proven_at from wallet
      where merchant_id = $1 order by bound_at desc, address desc limit ${OWN_MAX}`,
    [merchantId],
  );
  return rows;
}

/**
 * The time from which nothing pays a payment, because its wallet was proven to belong to another merchant; null when it was not.
 * @param payment alias of the payment's row.
 */
export const lostFromSql = (payment: string): string =>
  `(select date_trunc('second', w.proven_at) from wallet w
     where w.address = ${payment}.recipient and w.merchant_id <> ${payment}.merchant_id)`;

/**
 * The merchant who had proven a transfer's wallet when it was made, or null. This is intervalOf() in SQL: the transfer may have been made
 * as late as it was first seen.
 * @param transfer alias of the transfer's row.
 */
export const provenOwnerSql = (transfer: string): string =>
  `(select w.merchant_id from wallet w where w.address = ${transfer}.recipient
      and date_trunc('second', w.proven_at) <= greatest(${transfer}.block_timestamp,
            case when ${transfer}.live then ${transfer}.first_seen_at else ${transfer}.block_timestamp + interval '15 seconds' end))`;
