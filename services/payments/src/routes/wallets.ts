import { parseAddress } from '@quittance/contracts/address.ts';
import { ReadWallet, ReleaseWallet } from '@quittance/contracts/http/payments/wallets.ts';
import { rfc3339, withTextTimes } from '@quittance/runtime/time.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { readWallet, releaseWallet } from '../store/wallet.ts';

/** A wallet's owner, for the operator, and its release. */
export const walletRoutes = (db: Queryable): Route[] => [
  callRoute(ReadWallet, async ({ params }) => {
    const address = canonical(params.address);
    const { merchant_id, bound_at, releases } = await readWallet(db, address);
    return {
      address,
      merchant_id,
      bound_at: bound_at && rfc3339(bound_at),
      releases: releases.map(withTextTimes),
    };
  }),
  callRoute(ReleaseWallet, async ({ params, author }) => {
    const address = canonical(params.address);
    const merchantId = await releaseWallet(db, address, author);
    if (merchantId === null) throw new HttpError(404, 'This wallet belongs to no merchant');
    return { address, merchant_id: merchantId };
  }),
];

/** @throws HttpError 422 for a text that is no address. */
function canonical(address: string): string {
  const wallet = parseAddress(address);
  if (wallet === null) throw invalid({ field: 'address', reason: 'is no wallet address' });
  return wallet.address;
}
