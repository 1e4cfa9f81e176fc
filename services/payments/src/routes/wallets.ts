import { parseAddress } from '@quittance/contracts/address.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { operatorBody } from '@quittance/http/server/operator-body.ts';
import { pathParameter, route, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { readWallet, releaseWallet } from '../store/wallet.ts';

const readRelease = operatorBody({});

/** A wallet's owner, for the operator, and its release. */
export const walletRoutes = (db: Queryable): Route[] => [
  route({
    method: 'GET',
    path: '/internal/v1/wallets/:address',
    handle: async (request) => {
      const address = addressOf(request);
      const { merchant_id, bound_at, releases } = await readWallet(db, address);
      return {
        status: 200,
        body: {
          address,
          merchant_id,
          bound_at: bound_at && rfc3339(bound_at),
          releases: releases.map(withTime),
        },
      };
    },
  }),
  route({
    method: 'POST',
    path: '/internal/v1/wallets/:address/release',
    handle: async (request) => {
      const { author } = await readRelease(request);
      const address = addressOf(request);
      const merchantId = await releaseWallet(db, address, author);
      if (merchantId === null) throw new HttpError(404, 'This wallet belongs to no merchant');
      return { status: 200, body: { address, merchant_id: merchantId } };
    },
  }),
];

/** @returns the canonical address. @throws HttpError 422 for a text that is none. */
function addressOf({ params }: RouteRequest): string {
  const wallet = parseAddress(pathParameter(params, 'address'));
  if (wallet === null) throw invalid({ field: 'address', reason: 'is no wallet address' });
  return wallet.address;
}

const withTime = <R extends { released_at: Date }>({ released_at, ...release }: R) => ({
  ...release,
  released_at: rfc3339(released_at),
});
