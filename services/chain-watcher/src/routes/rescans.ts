import { HttpError, invalid } from '@quittance/http/errors.ts';
import { operatorBody } from '@quittance/http/server/operator-body.ts';
import { pathParameter, route, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { parseRfc3339 } from '@quittance/contracts/timestamp.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { createRescan, readRescans, type RescanRow } from '../store/rescans.ts';

const LIST_MAX = 100;

type Range = { from_block?: number; since?: string; to_block?: number };
const height = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const readRange = operatorBody<Range>({ from_block: height, since: { type: 'string' }, to_block: height });

/**
 * Reading blocks again because an operator wants it.
 * POST { actor, reason, from_block | since, to_block? } → 201 with the row; both ends are included, `since` is a moment of chain time,
 * and without `to_block` it ends at the last block that is final when it begins. The network's leader works it off; asking for the same
 * blocks again changes nothing but the time it takes. GET → { rescans }, the newest hundred.
 */
export function rescanRoutes({ pool, networks }: { pool: Pool; networks: readonly ChainNetwork[] }): Route[] {
  const networkOf = ({ params }: RouteRequest): string => {
    const id = pathParameter(params, 'network');
    if (!networks.some((network) => network.id === id)) throw new HttpError(404, 'Network not found');
    return id;
  };
  return [
    route({
      method: 'POST',
      path: '/internal/v1/chains/:network/rescans',
      handle: async (request) => {
        const network = networkOf(request);
        const { author, fields } = await readRange(request);
        const rescan = await createRescan(pool, { network, author, ...checkedRange(fields) });
        return { status: 201, body: toJson(rescan) };
      },
    }),
    route({
      method: 'GET',
      path: '/internal/v1/chains/:network/rescans',
      handle: async (request) => {
        const rescans = await readRescans(pool, networkOf(request), LIST_MAX);
        return { status: 200, body: { rescans: rescans.map(toJson) } };
      },
    }),
  ];
}

function checkedRange({ from_block: from, since, to_block: to }: Range) {
  if ((from === undefined) === (since === undefined))
    throw invalid({ field: 'from_block', reason: 'must be given, or else since, and not both' });
  const moment = since === undefined ? null : parseRfc3339(since);
  if (since !== undefined && moment === null)
    throw invalid({ field: 'since', reason: 'must be an RFC 3339 time in UTC' });
  if (from !== undefined && to !== undefined && to < from)
    throw invalid({ field: 'to_block', reason: 'must not be below from_block' });
  return { fromBlock: from ?? null, since: moment, toBlock: to ?? null };
}

function toJson(rescan: RescanRow): object {
  return {
    rescan_id: rescan.rescan_id,
    network: rescan.network,
    state: rescan.state,
    from_block: toNumber(rescan.from_block),
    since: rescan.since && rfc3339(rescan.since),
    to_block: toNumber(rescan.to_block),
    next_block: toNumber(rescan.next_block),
    found: rescan.found,
    error: rescan.error,
    actor: rescan.actor,
    reason: rescan.reason,
    requested_at: rfc3339(rescan.requested_at),
    finished_at: rescan.finished_at && rfc3339(rescan.finished_at),
  };
}

const toNumber = (height: bigint | null): number | null => (height === null ? null : Number(height));
