import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLifecycle } from '@quittance/runtime/lifecycle.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';
import { connectBackends } from '../src/backends.ts';
import { messagingMigrations } from '../src/schema/service-schema.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase({ schema: 'payments', migrations: [messagingMigrations] });
});
afterAll(() => database.drop());

test('a service whose connections have other time limits than it asks for does not start', async () => {
  const { lifecycle } = createLifecycle({ logger: testLogger });
  const { reachable } = connectBackends({
    name: 'payments',
    schema: 'payments',
    config: {
      databaseUrl: `${database.url}?statement_timeout=60000`,
      databasePoolSize: 3,
      amqpUrl: 'amqp://127.0.0.1:1',
      trust: sharedTrust(),
    },
    logger: testLogger,
    metrics: createMetrics({ service: 'test', processMetrics: false }),
    lifecycle,
  });
  await expect(reachable()).rejects.toThrow(
    'the database refuses this process: statement_timeout is "60000", not "5000": with a pooler',
  );
  await lifecycle.stop('the test ends');
});

test('a service whose server is read-only is not ready', async () => {
  const { lifecycle } = createLifecycle({ logger: testLogger });
  const { ready } = connectBackends({
    name: 'payments',
    schema: 'payments',
    config: {
      databaseUrl: `${database.url}?options=-c%20default_transaction_read_only%3Don`,
      databasePoolSize: 3,
      amqpUrl: 'amqp://127.0.0.1:1',
      trust: sharedTrust(),
    },
    logger: testLogger,
    metrics: createMetrics({ service: 'test', processMetrics: false }),
    lifecycle,
  });
  await expect(ready()).rejects.toThrow('the server is read-only');
  await lifecycle.stop('the test ends');
});
