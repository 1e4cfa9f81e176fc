import type { Network } from '@quittance/contracts/networks.ts';
import { createApp } from '@quittance/http/server/app.ts';
import { trustRoute, type LegacyRecord } from '@quittance/http/server/trust-route.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import { isUnavailable } from '@quittance/postgres/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { Overloaded } from '@quittance/runtime/concurrency/overloaded.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import { DeadlineExceeded } from '@quittance/runtime/concurrency/deadline.ts';
import { createAdmission } from '../admission/admission.ts';
import { createShopNames } from '../profile/shop-names.ts';
import { assetRoutes } from './checkout-assets.ts';
import type { Upstreams } from '../upstream/response.ts';
import type { OptionRules } from '@quittance/contracts/api/creation.ts';
import { createCreations } from '../upstream/creations.ts';
import { createCheckoutHelp } from '../upstream/checkout-help.ts';
import { createPaymentViews } from '../upstream/payment-views.ts';
import { checkReportRoute } from './check-report.ts';
import { checkoutRoutes } from './checkout.ts';
import { accountRoutes } from './account.ts';
import { docsRoutes } from './docs.ts';
import { merchantLoginRoutes } from './merchant-logins.ts';
import { operatorApiKeyRoutes } from './operator-api-keys.ts';
import { operatorSessionRoutes } from './operator-sessions.ts';
import { operatorAccountRoutes } from './operators.ts';
import { operatorRoutes } from './operator.ts';
import { findingRoutes } from './finding.ts';
import { paymentRoutes } from './payments.ts';
import { profileRoutes } from './profile.ts';
import { publicStatusRoutes } from './public-status.ts';
import { transferRoutes } from './transfers.ts';
import { webhookRoutes } from './webhook.ts';
import { webhookTestRoute } from './webhook-test.ts';

/** What the routes need, constructed in main.ts. */
export type GatewayParts = {
  db: Queryable;
  inTransaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  /** Throws while the database does not answer. Readiness ignores the other services: routes that need one answer 503. */
  ready: () => Promise<unknown>;
  outbox: Outbox;
  upstreams: Upstreams;
  networks: readonly Network[];
  optionRules: OptionRules;
  trust: Trust;
  legacy: LegacyRecord;
  logger: Logger;
  metrics: Metrics;
};

/** Below the two seconds within which a client must have an answer, whatever is broken. */
const PUBLIC_TIMEOUT_MS = 1_800;

/** All routes of the gateway. Their order matters in one place: /payments/page and /payments/export come before /payments/{public_token}. */
export function createGatewayApp(parts: GatewayParts) {
  const admission = createAdmission(parts.db, parts.metrics);
  const views = createPaymentViews(parts.upstreams.payments);
  const help = createCheckoutHelp({ payments: parts.upstreams.payments, admission, logger: parts.logger });
  const shopNameOf = createShopNames(parts);
  return createApp({
    name: 'api-gateway',
    logger: parts.logger,
    metrics: parts.metrics,
    trust: parts.trust,
    legacy: parts.legacy,
    publicTimeoutMs: PUBLIC_TIMEOUT_MS,
    ready: parts.ready,
    // A lost database with them: no request passes uncounted.
    isUnavailable: (error) => error instanceof DeadlineExceeded || error instanceof Overloaded || isUnavailable(error),
    routes: [
      ...findingRoutes({ ...parts, admission }),
      ...paymentRoutes({
        ...parts,
        admission,
        views,
        createUpstream: createCreations({ payments: parts.upstreams.payments, logger: parts.logger }),
        creationRules: { ...parts.optionRules, networks: parts.networks },
      }),
      ...transferRoutes({ admission, ...parts.upstreams }),
      ...publicStatusRoutes({ admission, views }),
      ...accountRoutes({ ...parts, admission }),
      ...webhookRoutes({ ...parts, admission }),
      webhookTestRoute({ ...parts, admission }),
      ...profileRoutes({ ...parts, admission }),
      ...operatorRoutes(parts),
      ...operatorApiKeyRoutes(parts),
      ...merchantLoginRoutes(parts),
      ...operatorAccountRoutes(parts),
      ...operatorSessionRoutes(parts),
      checkReportRoute(parts),
      ...checkoutRoutes({ ...parts, views, shopNameOf, help }),
      ...assetRoutes(),
      ...docsRoutes(),
      trustRoute('api-gateway', parts.trust, parts.legacy),
    ],
  });
}
