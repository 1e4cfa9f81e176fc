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

/** What a service opens with this address of the database. */
function connectWith(databaseUrl: string) {
  const { lifecycle } = createLifecycle({ logger: testLogger });
  const backends = connectBackends({
    ...{ name: 'payments', schema: 'payments', logger: testLogger, lifecycle },
    config: { databaseUrl, databasePoolSize: 3, amqpUrl: 'amqp://127.0.0.1:1', trust: sharedTrust() },
    metrics: createMetrics({ service: 'test', processMetrics: false }),
  });
  return { ...backends, stop: () => lifecycle.stop('the test ends') };
}

test('a service whose connections have other time limits than it asks for does not start', async () => {
  const { reachable, stop } = connectWith(`${database.url}?statement_timeout=60000`);
  await expect(reachable()).rejects.toThrow(
    'the database refuses this process: statement_timeout is "60000", not "5000": with a pooler',
  );
  await stop();
});

test('a service whose server is read-only is not ready', async () => {
  const { ready, stop } = connectWith(`${database.url}?options=-c%20default_transaction_read_only%3Don`);
  await expect(ready()).rejects.toThrow('the server is read-only');
  await stop();
});
