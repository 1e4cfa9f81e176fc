import { parseAddress } from '@quittance/contracts/address.ts';
import {
  FinishRestore,
  ListWalletPools,
  MOVED_INDEXES,
  PutWalletPool,
  ReadWalletPool,
  ReleaseWalletRest,
} from '@quittance/contracts/http/payments/pools.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { lockWallets } from '../settlement/transfer.sql.ts';
import { moveKeysOn } from './key.sql.ts';
import { type PoolRow, readPools } from './pool.sql.ts';
import { releaseRests } from './rest.sql.ts';
import { savePool, type SavingContext } from './save.ts';

const toPool = (row: PoolRow) => ({ ...withTextTimes(row), refused: [] });

const byMerchant = { actor: 'merchant', reason: 'released through the API' };

/** A merchant's pools of addresses, and the early end of an address's rest. */
export const poolRoutes = ({ db, ...context }: SavingContext & { db: Queryable }): Route[] => [
  callRoute(PutWalletPool, ({ params: { merchant_id: merchantId, name }, body }) =>
    savePool(context, { merchantId, name }, body),
  ),
  callRoute(ListWalletPools, async ({ params }) => ({
    pools: (await readPools(db, params.merchant_id, null)).map(toPool),
  })),
  callRoute(ReadWalletPool, async ({ params }) => {
    const [pool] = await readPools(db, params.merchant_id, params.name);
    if (pool === undefined) throw new HttpError(404, 'Wallet pool not found');
    return toPool(pool);
  }),
  callRoute(ReleaseWalletRest, async ({ params: { merchant_id: merchantId, address: text } }) => {
    const address = parseAddress(text)?.address;
    if (address === undefined) throw notResting();
    const wallets = context.networks.map(({ id }) => ({ network: id, recipient: address }));
    const networks = await context.transact(merchantId, async (tx) => {
      // In the order in which settling takes its locks: the wallet, then its payments.
      await lockWallets(tx, wallets);
      return releaseRests(tx, { merchantId, address }, byMerchant);
    });
    if (networks.length === 0) throw notResting();
    return { address, networks };
  }),
];

/** The same for a text that is no address, so that it is counted and answered alike. */
const notResting = (): HttpError => new HttpError(404, 'This address does not rest');

/** What an operator does after a backup was restored. */
export const restoreRoute = ({ transact }: { transact: Transact }): Route =>
  callRoute(FinishRestore, async ({ author }) => ({
    moved: await transact((tx) => moveKeysOn(tx, MOVED_INDEXES, author)),
  }));
