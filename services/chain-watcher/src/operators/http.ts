import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import {
  CreateJump,
  ListJumps,
  ListOperatorActions,
  ResumeChain,
} from '@quittance/contracts/http/chain-watcher/chains.ts';
import { CreateRescan, ListRescans, type RescanRange } from '@quittance/contracts/http/chain-watcher/rescans.ts';
import { parseRfc3339 } from '@quittance/contracts/timestamp.ts';
import { invalid, HttpError } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { createJump, readJumps } from '../jump/jump.sql.ts';
import { readCursor } from '../leadership/cursor.sql.ts';
import { createRescan, readRescans } from '../reread/rescan.sql.ts';
import { readOperatorActions, resumeNetwork } from './resumption.sql.ts';

type Dependencies = { pool: Pool; networks: readonly ChainNetwork[] };

/** Operators' requests for a network, and their audit log. The network's leader finds a request in the database. */
export function operatorRoutes({ pool, networks }: Dependencies): Route[] {
  const requireNetwork = (id: string): void => {
    if (!networks.some((network) => network.id === id)) throw new HttpError(404, 'Network not found');
  };
  return [
    callRoute(ResumeChain, async ({ params: { network }, body, author }) => {
      requireNetwork(network);
      const resumed = await resumeNetwork(pool, network, { acceptFork: body.accept_fork ?? false, author });
      if (resumed === null) throw new HttpError(409, `${network} is not halted: there is nothing to resume`);
      return withTextTimes(resumed);
    }),
    callRoute(CreateJump, async ({ params: { network }, body: { to_block: toBlock = null }, author }) => {
      requireNetwork(network);
      await requireAbove(pool, network, toBlock);
      const jump = await createJump(pool, { network, toBlock, author });
      if (jump === null) throw new HttpError(409, `${network} has a jump waiting already`);
      return withTextTimes(jump);
    }),
    callRoute(ListJumps, async ({ params: { network } }) => {
      requireNetwork(network);
      return { jumps: (await readJumps(pool, network)).map(withTextTimes) };
    }),
    callRoute(CreateRescan, async ({ params: { network }, body, author }) => {
      requireNetwork(network);
      return withTextTimes(await createRescan(pool, { network, author, ...checkedRange(body) }));
    }),
    callRoute(ListRescans, async ({ params: { network } }) => {
      requireNetwork(network);
      return { rescans: (await readRescans(pool, network)).map(withTextTimes) };
    }),
    callRoute(ListOperatorActions, async ({ query: { network, before } }) => ({
      actions: (await readOperatorActions(pool, { network, before })).map(withTextTimes),
    })),
  ];
}

/** A jump needs a network that is scanned and not halted, and a block above the last one scanned. */
async function requireAbove(pool: Pool, network: string, toBlock: number | null): Promise<void> {
  const cursor = await readCursor(pool, network);
  if (cursor?.state === 'halted') throw new HttpError(409, `${network} is halted: resume it first`);
  const scanned = cursor?.tip?.number;
  if (scanned === undefined)
    throw new HttpError(409, `${network} was never scanned: it starts at its last final block`);
  if (toBlock !== null && toBlock <= scanned)
    throw invalid({ field: 'to_block', reason: `must be above block ${String(scanned)}, the last one scanned` });
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
