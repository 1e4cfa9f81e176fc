import { parseAddress } from '@quittance/contracts/address.ts';
import { formatUnits } from '@quittance/contracts/amount.ts';
import { ReadWallet, ReleaseWallet, type UnmatchedOnWallet } from '@quittance/contracts/http/payments/wallets.ts';
import { rfc3339, withTextTimes } from '@quittance/runtime/time.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { findUnmatchedOnWallet, type UnmatchedOnWalletRow } from '../queries/payment-views.ts';
import { readWallet, releaseWallet } from '../store/wallet.ts';

/** A wallet's owner, for the operator, and its release. */
export const walletRoutes = ({ db, networks }: { db: Queryable; networks: readonly { id: string }[] }): Route[] => [
  callRoute(ReadWallet, async ({ params }) => {
    const address = canonical(params.address);
    const { merchant_id, bound_at, releases } = await readWallet(db, address);
    const ids = networks.map(({ id }) => id);
    const unmatched = await findUnmatchedOnWallet(db, address, ids);
    return {
      address,
      merchant_id,
      bound_at: bound_at && rfc3339(bound_at),
      releases: releases.map(withTextTimes),
      unmatched_transfers: unmatched.map(toUnmatched),
    };
  }),
  callRoute(ReleaseWallet, async ({ params, author }) => {
    const address = canonical(params.address);
    const merchantId = await releaseWallet(db, address, author);
    if (merchantId === null) throw new HttpError(404, 'This wallet belongs to no merchant');
    return { address, merchant_id: merchantId };
  }),
];

const toUnmatched = ({ amount_units, decimals, reason, ...row }: UnmatchedOnWalletRow): UnmatchedOnWallet => ({
  ...withTextTimes(row),
  amount: formatUnits(BigInt(amount_units), decimals),
  reason: reason ?? (row.related_payment_id === null ? 'no_payment' : 'unconfirmed'),
});

/** @throws HttpError 422 for a text that is no address. */
function canonical(address: string): string {
  const wallet = parseAddress(address);
  if (wallet === null) throw invalid({ field: 'address', reason: 'is no wallet address' });
  return wallet.address;
}
