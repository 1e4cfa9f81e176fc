import { route, type Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { readTips } from '../store/cursor.ts';

/**
 * GET /internal/v1/tips → { tips: [{ network, height }] }: for every enabled network the last block scanned, from which confirmations
 * are counted. A network of which nothing is scanned yet is left out; a halted one stays where it is. Payments asks this every second
 * while somebody waits for confirmations, so it is one statement and says nothing else; /internal/v1/chains says all.
 */
export function tipsRoute({ pool, networks }: { pool: Pool; networks: readonly ChainNetwork[] }): Route {
  const ids = networks.map(({ id }) => id);
  return route({
    method: 'GET',
    path: '/internal/v1/tips',
    async handle() {
      return { status: 200, body: { tips: await readTips(pool, ids) } };
    },
  });
}
