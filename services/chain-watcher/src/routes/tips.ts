import { ReadTips } from '@quittance/contracts/http/chain-watcher/tips.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { readTips } from '../store/cursor.ts';

export const tipsRoute = ({ pool, networks }: { pool: Pool; networks: readonly ChainNetwork[] }): Route =>
  callRoute(ReadTips, async () => {
    const { tips, clock } = await readTips(pool, networks);
    return { tips, clock: rfc3339(clock) };
  });
