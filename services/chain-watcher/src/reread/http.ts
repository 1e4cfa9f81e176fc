import { CreateRescan, ListRescans, type RescanRange } from '@quittance/contracts/http/chain-watcher/rescans.ts';
import { parseRfc3339 } from '@quittance/contracts/timestamp.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { createRescan, readRescans } from './rescan.sql.ts';

const LIST_MAX = 100;

export function rescanRoutes({ pool, networks }: { pool: Pool; networks: readonly ChainNetwork[] }): Route[] {
  const requireNetwork = (id: string): void => {
    if (!networks.some((network) => network.id === id)) throw new HttpError(404, 'Network not found');
  };
  return [
    callRoute(CreateRescan, async ({ params: { network }, body, author }) => {
      requireNetwork(network);
      return withTextTimes(await createRescan(pool, { network, author, ...checkedRange(body) }));
    }),
    callRoute(ListRescans, async ({ params: { network } }) => {
      requireNetwork(network);
      return { rescans: (await readRescans(pool, network, LIST_MAX)).map(withTextTimes) };
    }),
  ];
}

function checkedRange({ from_block: from, since, to_block: to }: RescanRange) {
  if ((from === undefined) === (since === undefined))
    throw invalid({ field: 'from_block', reason: 'must be given, or else since, and not both' });
  const time = since === undefined ? null : parseRfc3339(since);
  if (since !== undefined && time === null)
    throw invalid({ field: 'since', reason: 'must be an RFC 3339 time in UTC' });
  if (from !== undefined && to !== undefined && to < from)
    throw invalid({ field: 'to_block', reason: 'must not be below from_block' });
  return { fromBlock: from ?? null, since: time, toBlock: to ?? null };
}
