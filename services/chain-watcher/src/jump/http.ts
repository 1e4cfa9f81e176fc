import { CreateJump, ListJumps } from '@quittance/contracts/http/chain-watcher/jumps.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { readCursor } from '../leadership/cursor.sql.ts';
import { createJump, readJumps } from './jump.sql.ts';

const LIST_MAX = 100;

export function jumpRoutes({ pool, networks }: { pool: Pool; networks: readonly ChainNetwork[] }): Route[] {
  const requireNetwork = (id: string): void => {
    if (!networks.some((network) => network.id === id)) throw new HttpError(404, 'Network not found');
  };
  return [
    callRoute(CreateJump, async ({ params: { network }, body: { to_block: toBlock = null }, author }) => {
      requireNetwork(network);
      const cursor = await readCursor(pool, network);
      if (cursor?.state === 'halted') throw new HttpError(409, `${network} is halted: resume it first`);
      const scanned = cursor?.tip?.number;
      if (scanned === undefined)
        throw new HttpError(409, `${network} was never scanned: it starts at its last final block`);
      if (toBlock !== null && toBlock <= scanned)
        throw invalid({ field: 'to_block', reason: `must be above block ${String(scanned)}, the last one scanned` });
      const jump = await createJump(pool, { network, toBlock, author });
      if (jump === null) throw new HttpError(409, `${network} has a jump waiting already`);
      return withTextTimes(jump);
    }),
    callRoute(ListJumps, async ({ params: { network } }) => {
      requireNetwork(network);
      return { jumps: (await readJumps(pool, network, LIST_MAX)).map(withTextTimes) };
    }),
  ];
}
