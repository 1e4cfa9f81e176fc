import { parseAddress } from '@quittance/contracts/address.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { readJson } from '@quittance/http/body.ts';
import { route, type Route } from '@quittance/http/route.ts';
import { compileSchema } from '@quittance/contracts/schema.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Queries } from '../queries.ts';
import { releaseWallet } from '../store/wallet.ts';
import { paymentNotFound } from './read-payments.ts';

/** What an operator may see and do. */
export const operatorRoutes = ({ db, queries }: { db: Queryable; queries: Queries }): Route[] => [
  route({
    method: 'GET',
    path: '/internal/v1/payments/:payment_id',
    handle: async ({ params }) => {
      const payment = await queries.forOperator(params['payment_id'] ?? '');
      if (payment === null) throw paymentNotFound();
      return { status: 200, body: payment };
    },
  }),
  route({
    method: 'POST',
    path: '/internal/v1/wallets/:address/release',
    handle: async (request) => {
      const author = await readJson(request, MAX_BODY_BYTES, parseAuthor);
      const wallet = parseAddress(request.params['address'] ?? '');
      if (wallet === null) throw invalid({ field: 'address', reason: 'is no wallet address' });
      const merchantId = await releaseWallet(db, wallet.address, author);
      if (merchantId === null) throw new HttpError(404, 'This wallet belongs to no merchant');
      return { status: 200, body: { address: wallet.address, merchant_id: merchantId } };
    },
  }),
];

const MAX_BODY_BYTES = 4096;

type Author = { actor: string; reason: string };

const validate = compileSchema<Author>({
  type: 'object',
  additionalProperties: false,
  required: ['actor', 'reason'],
  properties: {
    actor: { type: 'string', minLength: 1, maxLength: 100 },
    reason: { type: 'string', minLength: 1, maxLength: 500 },
  },
});

function parseAuthor(value: unknown): Author {
  if (validate(value)) return value;
  throw invalid({ field: 'body', reason: 'must hold actor and reason, and nothing else' });
}
