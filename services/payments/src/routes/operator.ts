import { parseAddress } from '@quittance/contracts/address.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { operatorBody } from '@quittance/http/operator-body.ts';
import { pathParameter, route, type Route } from '@quittance/http/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Queries } from '../queries/payments.ts';
import { releaseWallet } from '../store/wallet.ts';

const readRelease = operatorBody({});

/** What an operator may see and do. */
export const operatorRoutes = ({ db, queries }: { db: Queryable; queries: Queries }): Route[] => [
  route({
    method: 'GET',
    path: '/internal/v1/payments/:payment_id',
    handle: async ({ params }) => {
      const payment = await queries.forOperator(pathParameter(params, 'payment_id'));
      if (payment === null) throw new HttpError(404, 'Payment not found');
      return { status: 200, body: payment };
    },
  }),
  route({
    method: 'POST',
    path: '/internal/v1/wallets/:address/release',
    handle: async (request) => {
      const { author } = await readRelease(request);
      const wallet = parseAddress(pathParameter(request.params, 'address'));
      if (wallet === null) throw invalid({ field: 'address', reason: 'is no wallet address' });
      const merchantId = await releaseWallet(db, wallet.address, author);
      if (merchantId === null) throw new HttpError(404, 'This wallet belongs to no merchant');
      return { status: 200, body: { address: wallet.address, merchant_id: merchantId } };
    },
  }),
];
