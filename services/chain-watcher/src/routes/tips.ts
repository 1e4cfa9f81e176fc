import { ReadTips } from '@quittance/contracts/http/chain-watcher/tips.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { readTips } from '../store/cursor.ts';

export function tipsRoute({ pool, networks }: { pool: Pool; networks: readonly ChainNetwork[] }): Route {
  const ids = networks.map(({ id }) => id);
  return callRoute(ReadTips, async () => ({ tips: await readTips(pool, ids) }));
}
