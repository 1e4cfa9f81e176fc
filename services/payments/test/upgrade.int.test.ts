import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { createOutbox } from '@quittance/messaging/outbox/outbox.ts';
import { migrate } from '@quittance/postgres/migrations/migrate.ts';
import { pathOf } from '@quittance/postgres/migrations/source.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { migrations, schema } from '../src/migrations.ts';
import { createPaymentMessages } from '../src/payment/outgoing-messages.ts';
import { findUnmatched } from '../src/payment/view.sql.ts';
import { observeTransfers, reviewTransfers } from '../src/settlement/settlement.ts';
import { newWallet } from './fixtures.ts';
import { insertPast, pastPayment } from './finding-fixtures.ts';
import { insertUnmatched, pastUnmatched } from './unmatched-fixtures.ts';

/** The last migration of 0.2.0. */
const LAST_OF_0_2_0 = '0026';

let database: TestDatabase;
let db: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations: [] });
  const folder = await mkdtemp(join(tmpdir(), 'payments-0.2.0-'));
  try {
    const older = [];
    for (const source of migrations) {
      const directory = join(folder, source.ledger);
      await mkdir(join(directory, 'migrations'), { recursive: true });
      const files = await readdir(pathOf(source, 'migrations'));
      const known = source.ledger === 'migrations' ? files.filter((file) => file.slice(0, 4) <= LAST_OF_0_2_0) : files;
      for (const file of known) await cp(join(pathOf(source, 'migrations'), file), join(directory, 'migrations', file));
      older.push({ ...source, directory, version: '0.2.0' });
    }
    await migrate({ url: database.url, schema, migrations: older, logger: testLogger });
  } finally {
    await rm(folder, { recursive: true });
  }
  db = testPool({ url: database.url, schema, max: 2 });
}, 120_000);
afterAll(async () => {
  await db.end();
  await database.drop();
});

test('the rows of 0.2.0’s ledger stay, are shown, and pay no payment that is created later', async () => {
  const merchantId = newId('mer');
  const [wallet, now] = [newWallet(), Date.now()];
  const seconds = (count: number): Date => new Date(Math.floor(now / 1000) * 1000 + count * 1000);
  const ended = pastPayment({
    ...{ merchant_id: merchantId, recipient: wallet, status: 'EXPIRED', created_at: seconds(-3_000) },
  });
  await insertPast(db, [ended]);
  const late = pastUnmatched({
    ...{ merchant_id: merchantId, recipient: wallet, amount_units: '10500000', block_timestamp: seconds(-3) },
    ...{ related_payment_id: ended.payment_id, reason: 'late' },
  });
  await insertUnmatched(db, [late]);

  await migrate({ url: database.url, schema, migrations, logger: testLogger });
  const { rows } = await db.query(
    'select related_payment_id, reason, first_seen_at, live, notified, candidates from transfer',
  );
  expect(rows).toEqual([
    {
      ...{ related_payment_id: ended.payment_id, reason: 'late', first_seen_at: null, live: false },
      ...{ notified: true, candidates: null },
    },
  ]);
  const shown = {
    shown_with: ended.payment_id,
    transaction_id: late.transaction_id,
    reason: 'late',
    candidate_count: 1,
  };
  expect(await findUnmatched(db, [ended.payment_id])).toMatchObject([shown]);

  // Created a moment after the block, within the 15 s of tolerance when nothing better is known.
  const next = pastPayment({ merchant_id: merchantId, recipient: wallet, created_at: seconds(1) });
  await insertPast(db, [next]);
  const message: TransferObserved = {
    ...{ merchant_id: merchantId, network: 'local', transaction_id: late.transaction_id, transaction_event_index: 0 },
    ...{ block_number: 1, block_hash: 'b', block_timestamp: late.block_timestamp.toISOString(), from: 's', to: wallet },
    ...{ amount_units: '10500000', decimals: 6, phase: 'confirmed', version: 2 },
    ...{ confirmations: 9, confirmations_required: 2 },
  };
  const common = { logger: testLogger, metrics: testMetrics };
  const broker = connectBroker({ ...common, url: 'amqp://nobody:nobody@127.0.0.1:1/', name: 'payments' });
  const outbox = createOutbox({ ...common, pool: db, broker, signer: null });
  try {
    const messages = createPaymentMessages({ outbox, metrics: testMetrics });
    const context = { messages, logger: testLogger };
    // An older chain-watcher does not report when it first read it; a newer one may have read it again after its own upgrade.
    await transaction(db, (tx) => observeTransfers({ ...context, tx }, [message]));
    const reread = { ...message, version: 3, first_seen_at: seconds(5).toISOString() };
    await transaction(db, (tx) => reviewTransfers({ ...context, tx }, [reread]));
    const known = await db.query<{ status: string; first_seen_at: Date; payment_id: string | null }>(
      `select status, first_seen_at, t.payment_id from payment p cross join transfer t where p.payment_id = $1`,
      [next.payment_id],
    );
    expect(known.rows).toEqual([{ status: 'PENDING', first_seen_at: late.block_timestamp, payment_id: null }]);
    expect(await findUnmatched(db, [ended.payment_id, next.payment_id])).toMatchObject([shown]);
    // The earlier release has notified everyone.
    expect((await db.query('select from outbox')).rows).toEqual([]);
  } finally {
    await outbox.close();
    await broker.close();
  }
});
