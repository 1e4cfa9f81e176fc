import { writeCursor } from '@quittance/contracts/http/payments/payments.ts';
import { withDatabase } from '../../support/database.ts';
import { LARGEST } from './filled-database.ts';
import type { LoadRequest } from './load.ts';
import { INTERNAL_TOKEN } from '../../support/lone-service.ts';
import { NETWORK } from './payments-process.ts';

/** Enough different ones that no page of the database is asked for much more often than the others. */
const SAMPLE = 4_000;

const headers = { 'x-internal-token': INTERNAL_TOKEN, 'content-type': 'application/json' };

export const CREATION = 'creation';
export const UNIQUE_CREATION = 'creation: unique amount';

/** What is asked of payments, by operation; `status` of the answer where it is not 200. */
export type Operation = { name: string; status?: number; requests: LoadRequest[] };

/** The same operations for every size, on what its database holds. */
export async function operationsOf(adminUrl: string): Promise<Operation[]> {
  const { merchants, payments, places } = await withDatabase(adminUrl, async (db) => {
    await db.query('set search_path = payments');
    const merchants = await db.query<{ merchant_id: string; address: string }>(
      'select merchant_id, address from wallet order by random() limit $1',
      [SAMPLE],
    );
    const payments = await db.query<{ merchant_id: string; payment_id: string; token: string }>(
      `select merchant_id, payment_id, encode(token_sha256, 'hex') as token from payment order by random() limit $1`,
      [SAMPLE],
    );
    const places = await db.query<{ payment_id: string; created_at: Date }>(
      'select payment_id, created_at from payment where merchant_id = $1 order by random() limit $2',
      [LARGEST, SAMPLE],
    );
    return { merchants: merchants.rows, payments: payments.rows, places: places.rows };
  });
  return [
    // No payment that is there already ends in .5, so its slot is free.
    {
      name: CREATION,
      status: 201,
      requests: merchants.map((merchant) => creationOf(merchant, { amount: '{number}.5' })),
    },
    {
      name: UNIQUE_CREATION,
      status: 201,
      requests: merchants.map((merchant) => creationOf(merchant, { amount: '0.50', unique_amount: true })),
    },
    {
      name: 'details',
      requests: payments.map(({ merchant_id, payment_id }) =>
        post('/internal/v1/payment-details', { payments: [{ merchant_id, payment_id }] }),
      ),
    },
    {
      name: 'public status',
      requests: payments.map(({ token }) => post('/internal/v1/public-payments', { tokens_sha256: [token] })),
    },
    { name: 'list: first page', requests: [list('')] },
    {
      name: 'list: any page',
      requests: places.map(({ payment_id, created_at }) =>
        list(`&cursor=${writeCursor({ createdAt: created_at, paymentId: payment_id })}`),
      ),
    },
    { name: 'list: CANCELLED', requests: [list('&status=CANCELLED')] },
    { name: 'list: CHECKING, none', requests: [list('&status=CHECKING')] },
  ];
}

const list = (filter: string): LoadRequest => ({
  path: `/internal/v1/merchants/${LARGEST}/payments?limit=20${filter}`,
  headers: { 'x-internal-token': INTERNAL_TOKEN },
});

const post = (path: string, body: object): LoadRequest => ({ path, headers, body: JSON.stringify(body) });

const creationOf = (
  { merchant_id, address }: { merchant_id: string; address: string },
  order: { amount: string; unique_amount?: boolean },
): LoadRequest => ({
  ...post(`/internal/v1/merchants/${merchant_id}/payments`, {
    idempotency_key: '{key}',
    ...order,
    merchant_wallet: address,
    network: NETWORK,
    description: 'Order 12345, two teas',
  }),
  fresh: true,
});
