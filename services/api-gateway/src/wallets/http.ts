import { parseAddress, type ParsedAddress } from '@quittance/contracts/address.ts';
import {
  isPoolName,
  ListWalletPools,
  PutWalletPool,
  ReadWalletPool,
  ReleaseWalletRest,
} from '@quittance/contracts/http/payments/pools.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { type Admission, rateLimits } from '../limits/admission.ts';
import { merchantChange, merchantRead } from '../limits/merchant-route.ts';
import { bodiless, refuseLargeBody } from '../request-body.ts';
import { forward, type Upstreams } from '../upstreams.ts';
import { readPool } from './pool.ts';

type Dependencies = { admission: Admission; upstreams: Upstreams; networks: readonly Network[] };

/** A merchant's pools of addresses, and the early end of an address's rest. */
export const walletRoutes = ({ admission, upstreams: { payments }, networks }: Dependencies): Route[] => [
  merchantChange(admission, 'PUT /api/v1/merchant/wallet-pools/:name', {
    right: 'settings',
    action: 'put_wallet_pool',
    limit: rateLimits.webhookSettings,
    read: (request) => readPool(request, networks),
    handle: async ({ merchant, input: { name, body } }) =>
      forward(await payments.send(PutWalletPool, { params: { ...merchant, name }, body })),
  }),

  merchantRead(admission, '/api/v1/merchant/wallet-pools', {
    limit: rateLimits.sharedReads,
    read: refuseLargeBody,
    handle: async ({ merchant }) => forward(await payments.send(ListWalletPools, { params: merchant })),
  }),

  merchantRead(admission, '/api/v1/merchant/wallet-pools/:name', {
    limit: rateLimits.sharedReads,
    read: bodiless<string>(({ params }) => pathParameter(params, 'name')),
    handle: async ({ merchant, input: name }) => {
      if (!isPoolName(name)) throw new HttpError(404, 'Wallet pool not found');
      return forward(await payments.send(ReadWalletPool, { params: { ...merchant, name } }));
    },
  }),

  merchantChange(admission, 'DELETE /api/v1/merchant/wallet-rests/:address', {
    right: 'settings',
    action: 'release_rest',
    limit: rateLimits.webhookSettings,
    read: bodiless<ParsedAddress | null>(({ params }) => parseAddress(pathParameter(params, 'address'))),
    handle: async ({ merchant, input: address }) => {
      if (address === null) throw new HttpError(404, 'This address does not rest');
      return forward(await payments.send(ReleaseWalletRest, { params: { ...merchant, address: address.address } }));
    },
  }),
];
