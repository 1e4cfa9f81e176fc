import { ListOperatorActions, ResumeChain } from '@quittance/contracts/http/chain-watcher/operator-actions.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { readOperatorActions, resumeNetwork } from '../store/resumptions.ts';

const LIST_MAX = 100;

export const resumeRoutes = ({ pool, networks }: { pool: Pool; networks: readonly ChainNetwork[] }): Route[] => [
  callRoute(ResumeChain, async ({ params: { network: id }, body, author }) => {
    if (!networks.some((network) => network.id === id)) throw new HttpError(404, 'Network not found');
    const resumed = await resumeNetwork(pool, id, { acceptFork: body.accept_fork ?? false, author });
    if (resumed === null) throw new HttpError(409, `${id} is not halted: there is nothing to resume`);
    return withTextTimes(resumed);
  }),
  callRoute(ListOperatorActions, async ({ query: { network, before } }) => {
    const actions = await readOperatorActions(pool, { network, before, limit: LIST_MAX });
    return { actions: actions.map(withTextTimes) };
  }),
];
