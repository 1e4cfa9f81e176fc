import type { Network } from '@quittance/contracts/networks.ts';
import { createApp } from '@quittance/http/server/app.ts';
import { unavailable } from '@quittance/http/errors.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { Overloaded } from '@quittance/runtime/concurrency/batched-call.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { DeadlineExceeded } from '@quittance/runtime/concurrency/deadline.ts';
import { createAdmission } from './admission.ts';
import { assetRoutes } from './routes/checkout-assets.ts';
import type { Owners } from './clients.ts';
import { createPaymentViews } from './payment-views.ts';
import { checkoutRoutes } from './routes/checkout.ts';
import { accountRoutes } from './routes/account.ts';
import { docsRoutes } from './routes/docs.ts';
import { operatorRoutes } from './routes/operator.ts';
import { paymentRoutes } from './routes/payments.ts';
import { publicStatusRoutes } from './routes/public-status.ts';
import { webhookRoutes } from './routes/webhook.ts';

/** Everything the gateway answers with, built in main.ts. */
export type GatewayParts = {
  db: Queryable;
  /** Gives up before a caller does, so that what was answered 503 does not happen afterwards. */
  inTransaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  /** Whether an error of the database means "not now": then the answer is 503, and nobody passes unmetered. */
  isUnavailable: (error: unknown) => boolean;
  /** Throws while the database does not answer. The other services do not count: their endpoints answer 503 by themselves. */
  ready: () => Promise<void>;
  outbox: Outbox;
  owners: Owners;
  networks: readonly Network[];
  internalToken: string;
  internalTokenPrevious?: string | null;
  logger: Logger;
  metrics: Metrics;
};

/** All routes of the gateway. Their order matters in one place: /payments/page comes before /payments/{public_token}. */
export function createGatewayApp(parts: GatewayParts) {
  const admission = createAdmission(parts.db, parts.metrics);
  const views = createPaymentViews(parts.owners.payments);
  const isUnavailable = (error: unknown) =>
    error instanceof DeadlineExceeded || error instanceof Overloaded || parts.isUnavailable(error);
  return createApp({
    name: 'api-gateway',
    logger: parts.logger,
    metrics: parts.metrics,
    internalToken: parts.internalToken,
    internalTokenPrevious: parts.internalTokenPrevious ?? null,
    ready: parts.ready,
    mapError: (error) => (isUnavailable(error) ? unavailable(error) : null),
    routes: [
      ...paymentRoutes({ ...parts, admission, views }),
      ...publicStatusRoutes({ admission, views }),
      ...accountRoutes({ ...parts, admission }),
      ...webhookRoutes({ ...parts, admission }),
      ...operatorRoutes(parts),
      ...checkoutRoutes({ ...parts, views }),
      ...assetRoutes(),
      ...docsRoutes(),
    ],
  });
}
