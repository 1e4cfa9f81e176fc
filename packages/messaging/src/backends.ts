import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import type { Lifecycle } from '@quittance/runtime/lifecycle.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { connectBroker, type Broker } from './broker.ts';
import { createOutbox, type Outbox } from './outbox.ts';

/**
 * What every service that sends messages stands on: its database, the broker, and the outbox between them.
 * Returns at once, whether or not they can be reached yet; each is closed when the process stops, the outbox first.
 * @param schema the service's own, the only one its role can touch.
 */
export function connectBackends({
  name,
  schema,
  config,
  logger,
  metrics,
  lifecycle,
}: {
  name: string;
  schema: string;
  config: { databaseUrl: string; databasePoolSize: number; amqpUrl: string };
  logger: Logger;
  metrics: Metrics;
  lifecycle: Lifecycle;
}): { pool: Pool; broker: Broker; outbox: Outbox } {
  const { databaseUrl: url, databasePoolSize: max } = config;
  const pool = createPool({ url, schema, max, logger, applicationName: name, metrics });
  lifecycle.onStop('database', () => pool.end());
  const broker = connectBroker({ url: config.amqpUrl, name, logger, metrics });
  lifecycle.onStop('broker', () => broker.close());
  const outbox = createOutbox({ pool, broker, logger, metrics });
  lifecycle.onStop('outbox', () => outbox.close());
  return { pool, broker, outbox };
}
