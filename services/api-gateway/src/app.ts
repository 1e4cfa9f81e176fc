import type { Network } from '@quittance/contracts/networks.ts';
import { createApp } from '@quittance/http/server/app.ts';
import { trustRoute, type LegacyRecord } from '@quittance/http/server/internal-routes.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import { isUnavailable } from '@quittance/postgres/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import { DeadlineExceeded } from '@quittance/runtime/concurrency/deadline.ts';
import { Overloaded } from '@quittance/runtime/concurrency/overloaded.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import { createCheckoutHelp } from './checkout/help.ts';
import { accentRoute, assetRoute, checkoutRoute } from './checkout/http.ts';
import { docsRoutes } from './docs/http.ts';
import { apiKeyRoutes, rotationRoute } from './keys/http.ts';
import { createAdmission } from './limits/admission.ts';
import { limitsRoute, merchantRoutes } from './merchants/http.ts';
import { checkReportRoute, operatorRoutes, sessionRoutes } from './operators/http.ts';
import { loginRoutes } from './operators/logins.ts';
import { accountRoutes, passkeySignInRoutes } from './operators/passkeys.ts';
import { createWebauthn } from './operators/webauthn.ts';
import type { OptionRules } from '@quittance/contracts/api/creation.ts';
import { createCreations } from './payments/creations.ts';
import {
  changeRoutes,
  findingRoutes,
  paymentRoutes,
  publicStatusRoute,
  ratesRoute,
  transferRoutes,
} from './payments/http.ts';
import { createPaymentViews } from './payments/views.ts';
import { logoRoute, profileRoutes } from './profile/http.ts';
import { createShops } from './profile/shops.ts';
import type { Upstreams } from './upstreams.ts';
import { walletRoutes } from './wallets/http.ts';
import { webhookRoutes, webhookTestRoute } from './webhooks/http.ts';

/** What the routes need, constructed in main.ts. */
export type GatewayParts = {
  db: Queryable;
  transact: Transact;
  /** Throws if the database does not answer. Readiness ignores the other services: a route that needs one answers 503. */
  ready: () => Promise<unknown>;
  outbox: Outbox;
  upstreams: Upstreams;
  networks: readonly Network[];
  optionRules: OptionRules;
  /** The host names that passkeys belong to; empty while they are off. */
  passkeysFor: readonly string[];
  trust: Trust;
  legacy: LegacyRecord;
  logger: Logger;
  metrics: Metrics;
};

/** Below the two seconds within which every client gets an answer, whatever fails. */
const PUBLIC_TIMEOUT_MS = 1_800;

/** All routes of the gateway. Only one order matters: /payments/page and /payments/export come before /payments/{public_token}. */
export function createGatewayApp(parts: GatewayParts) {
  const { upstreams, networks, logger, metrics, trust, legacy } = parts;
  const { payments } = upstreams;
  const admission = createAdmission(parts.db, metrics, trust);
  const webauthn = parts.passkeysFor.length === 0 ? null : createWebauthn(parts.passkeysFor);
  const views = createPaymentViews(payments);
  const all = { ...parts, admission, views, webauthn };
  return createApp({
    name: 'api-gateway',
    logger,
    metrics,
    trust,
    legacy,
    publicTimeoutMs: PUBLIC_TIMEOUT_MS,
    ready: parts.ready,
    // Includes a lost database: no request passes uncounted.
    isUnavailable: (error) => error instanceof DeadlineExceeded || error instanceof Overloaded || isUnavailable(error),
    routes: [
      ...findingRoutes(all),
      ...changeRoutes({
        ...all,
        createUpstream: createCreations({ payments, logger }),
        creationRules: { ...parts.optionRules, networks },
      }),
      ratesRoute(all),
      ...paymentRoutes(all),
      ...transferRoutes(all),
      publicStatusRoute(all),
      limitsRoute(all),
      rotationRoute(all),
      ...webhookRoutes(all),
      webhookTestRoute(all),
      ...walletRoutes(all),
      ...profileRoutes(all),
      ...merchantRoutes(all),
      ...apiKeyRoutes(all),
      ...loginRoutes(all),
      ...operatorRoutes(all),
      ...sessionRoutes(all),
      ...passkeySignInRoutes(all),
      ...accountRoutes(all),
      checkReportRoute(all),
      checkoutRoute({
        ...all,
        shopOf: createShops(parts),
        help: createCheckoutHelp({ payments, admission, logger }),
      }),
      assetRoute(),
      accentRoute,
      logoRoute(all),
      ...docsRoutes(),
      trustRoute('api-gateway', trust, legacy),
    ],
  });
}
