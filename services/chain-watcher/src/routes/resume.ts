import { HttpError, invalid } from '@quittance/http/errors.ts';
import { operatorBody } from '@quittance/http/server/operator-body.ts';
import { pathParameter, route, type Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { parseRfc3339 } from '@quittance/contracts/timestamp.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { readOperatorActions, resumeNetwork } from '../store/resumptions.ts';

const LIST_MAX = 100;

const readResumption = operatorBody<{ accept_fork?: boolean }>({ accept_fork: { type: 'boolean' } });

/**
 * POST /internal/v1/chains/:network/resume { actor, reason, accept_fork? } → lets a halted network go on. It goes on if its nodes agree with
 * us again, and halts anew if not; with `accept_fork` it then follows the nodes below what had been final instead, once.
 * 404 for an unknown network, 409 for one that is not halted.
 * GET /internal/v1/operator-actions?network=…&before=… → { actions }: what operators did to networks, the newest hundred, those before a
 * moment if one is given.
 */
export const resumeRoutes = ({ pool, networks }: { pool: Pool; networks: readonly ChainNetwork[] }): Route[] => [
  route({
    method: 'POST',
    path: '/internal/v1/chains/:network/resume',
    handle: async (request) => {
      const id = pathParameter(request.params, 'network');
      if (!networks.some((network) => network.id === id)) throw new HttpError(404, 'Network not found');
      const { author, fields } = await readResumption(request);
      const resumed = await resumeNetwork(pool, id, { acceptFork: fields.accept_fork ?? false, author });
      if (resumed === null) throw new HttpError(409, `${id} is not halted: there is nothing to resume`);
      const { halted_at, resumed_at, ...rest } = resumed;
      return { status: 200, body: { ...rest, halted_at: rfc3339(halted_at), resumed_at: rfc3339(resumed_at) } };
    },
  }),
  route({
    method: 'GET',
    path: '/internal/v1/operator-actions',
    handle: async ({ query }) => {
      const text = query.get('before');
      const before = text === null ? null : parseRfc3339(text);
      if (text !== null && before === null)
        throw invalid({ field: 'before', reason: 'must be an RFC 3339 time in UTC' });
      const actions = await readOperatorActions(pool, { network: query.get('network'), before, limit: LIST_MAX });
      return { status: 200, body: { actions: actions.map((action) => ({ ...action, at: rfc3339(action.at) })) } };
    },
  }),
];
