import { route, type Route } from '@quittance/http/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { ChainNetwork } from '../networks.ts';
import type { Endpoints } from '../rpc/endpoints.ts';
import { readCursor } from '../store/cursor.ts';

/**
 * GET /internal/v1/chains → for every enabled network, where its scan stands and how this replica finds its nodes.
 * Heights are null before the first start.
 */
export function chainsRoute({
  pool,
  networks,
}: {
  pool: Pool;
  networks: readonly { network: ChainNetwork; endpoints: Endpoints }[];
}): Route {
  return route({
    method: 'GET',
    path: '/internal/v1/chains',
    async handle() {
      const chains = await Promise.all(
        networks.map(async ({ network, endpoints }) => {
          const cursor = await readCursor(pool, network.id);
          const tip = cursor?.tip ?? null;
          return {
            network: network.id,
            head: tip && cursor ? cursor.head : null,
            finalized: tip && cursor ? cursor.finalized : null,
            cursor: tip?.number ?? null,
            cursor_timestamp: tip ? rfc3339(new Date(tip.timestamp * 1000)) : null,
            lag_blocks: tip && cursor ? Math.max(0, cursor.head - tip.number) : null,
            scanned_through: cursor?.final ? rfc3339(new Date(cursor.final.timestamp * 1000)) : null,
            confirmations_required: network.confirmations,
            halted_at: cursor?.haltedAt ? rfc3339(cursor.haltedAt) : null,
            endpoints: endpoints.states(),
          };
        }),
      );
      return { status: 200, body: chains };
    },
  });
}
