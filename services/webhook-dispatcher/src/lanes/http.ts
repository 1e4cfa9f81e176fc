import { ReadWebhookAudit } from '@quittance/contracts/http/audit.ts';
import { ReadWebhookHealth } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { ListLanes } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { asMerchantsSee, type Queries } from '../events/reads.sql.ts';
import { lanesOf } from './lane.sql.ts';
import { readWaitingLanes, type PrivateTargetOf } from './backlog.sql.ts';

type Dependencies = { pool: Pool; queries: Queries; privateTargetOf: PrivateTargetOf };

/** Waiting lanes, a merchant's webhook health, and the audit log of its endpoint. All are empty for an unknown merchant. */
export const laneRoutes = ({ pool, queries, privateTargetOf }: Dependencies): Route[] => [
  callRoute(ListLanes, ({ query: { held, merchant_id: merchantId } }) =>
    readWaitingLanes(
      pool,
      merchantId === null ? { held: held === 'true' } : { lanes: lanesOf(merchantId) },
      privateTargetOf,
    ),
  ),
  callRoute(ReadWebhookHealth, async ({ params: { merchant_id: merchantId } }) => {
    const [{ lanes }, failed] = await Promise.all([
      readWaitingLanes(pool, { lanes: lanesOf(merchantId) }),
      queries.failedEvents({ merchantId, after: null }),
    ]);
    return {
      lanes: lanes.map(({ private_target: _privateTarget, ...lane }) => asMerchantsSee(lane)),
      failed: { ...failed, events: failed.events.map(asMerchantsSee) },
    };
  }),
  callRoute(ReadWebhookAudit, async ({ params, query }) => ({
    entries: await queries.audit(params.merchant_id, query.before),
  })),
];
