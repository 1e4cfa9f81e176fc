import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { testDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { installedPgbouncer, type Pgbouncer, startPgbouncer } from '@quittance/testkit/pgbouncer.ts';
import { startServiceProcess } from '@quittance/testkit/service-process.ts';
import { migrations, schema } from '../src/migrations.ts';
import { newPayment } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

const program = installedPgbouncer() ?? '';
const testPooled = program === '' ? test.skip : test;
if (program === '') process.stderr.write('Skipped: there is no PgBouncer here. Debian has it as pgbouncer.\n');

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function pooler(options: Omit<Parameters<typeof startPgbouncer>[0], 'program'>): Promise<Pgbouncer> {
  const started = await startPgbouncer({ program, ...options });
  closing.push(() => started.close());
  return started;
}

// In transaction mode, more clients than connections to the server share them.
testPooled.each([
  ['session', 20],
  ['transaction', 3],
] as const)('payments are created, paid and notified through a PgBouncer in %s mode', async (mode, poolSize) => {
  const payments: PaymentsUnderTest = await startPayments({
    pooled: async (target) => (await pooler({ target, mode, poolSize })).url,
  });
  closing.push(() => payments.close());
  const created = await Promise.all(Array.from({ length: 10 }, () => newPayment(payments)));
  await eventually(() => expect(payments.received.created).toHaveLength(created.length));
  for (const one of created) {
    const seen = await one.observe();
    await payments.publish(TransferObserved, { ...seen, phase: 'confirmed', version: 2, confirmations: 2 });
  }
  await eventually(async () => {
    for (const one of created) expect((await one.details()).status).toBe('PAID');
    expect(payments.received.paid).toHaveLength(created.length);
  });
  expect(await payments.ready()).toBe(200);
});

testPooled.each([
  ['refuses', ''],
  ['drops', 'options'],
])('a service behind a PgBouncer that %s its options does not start, and says what to change', async (_, ignored) => {
  const database = await testDatabase({ schema, migrations });
  closing.push(() => database.drop());
  const { url } = await pooler({ target: database.url, mode: 'session', poolSize: 5, ignored });
  const main = new URL('../../quota/src/main.ts', import.meta.url);
  const token = randomBytes(32).toString('hex');
  await expect(
    startServiceProcess(main, { DATABASE_URL: url, AMQP_URL: 'amqp://127.0.0.1:1', INTERNAL_TOKEN: token }),
  ).rejects.toThrow('with a pooler such as PgBouncer, add pgbouncer=true to DATABASE_URL');
});
