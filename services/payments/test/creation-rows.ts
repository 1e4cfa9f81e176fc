import { randomUUID } from 'node:crypto';
import { newId } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import { insertMessages } from '@quittance/messaging/outbox/store.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { testDatabase, testPool } from '@quittance/testkit/database.ts';
import { testMetrics } from '@quittance/testkit/logger.ts';
import { migrations, schema } from '../src/migrations.ts';
import { decideAll } from '../src/payment/create.ts';
import type { Creation, CreationResult, CreationRules } from '../src/payment/creation-rule.ts';
import { createPaymentMessages } from '../src/payment/outgoing-messages.ts';

export type CreationDatabase = { db: Pool; close(): Promise<void> };

/** An empty database of the service. @param max connections. */
export async function creationDatabase(max: number): Promise<CreationDatabase> {
  const database = await testDatabase({ schema, migrations });
  const db = testPool({ url: database.url, schema, max });
  const close = async (): Promise<void> => {
    await db.end();
    await database.drop();
  };
  return { db, close };
}

/** A merchant that may create, without the messages that normally establish it. */
export async function newGate(db: Pool, merchantId = newId('mer'), totalLimit = 100): Promise<string> {
  await db.query(
    `insert into gate (merchant_id, policy_version, access_type, account_active, creation_paused, beta_duration_days, total_limit,
                       package_number, webhook_ok)
     values ($1, 1, 'legacy', true, false, 30, $2, 1, true)`,
    [merchantId, totalLimit],
  );
  return merchantId;
}

export const rules: CreationRules = {
  ttlSeconds: 1800,
  walletBinding: false,
  publicBaseUrl: 'https://pay.example',
  networks: [],
};

/** A valid creation of 1 USDT, on its own wallet. */
export const newCreation = (merchantId: string, change: Partial<Creation> = {}): Creation => ({
  merchant_id: merchantId,
  idempotency_key: randomUUID(),
  network: 'local',
  merchant_wallet: newId('whk'),
  amount: '1',
  amount_units: 1_000_000n,
  description: 'coffee',
  ...change,
});

/** Writes PaymentCreated into the outbox, as the service does. `sent`: how often. */
export function createdMessages() {
  const counted = { sent: 0 };
  const sendAll: Outbox['sendAll'] = async (tx, message, messages) => {
    counted.sent += 1;
    await insertMessages(
      tx,
      messages.map(({ payload, requestId = randomUUID(), traceparent = null }) => ({
        ...{ message_id: randomUUID(), name: message.name, version: message.version },
        ...{ merchant_id: (payload as { merchant_id?: string }).merchant_id ?? '' },
        ...{ body: JSON.stringify(payload), request_id: requestId, traceparent },
      })),
    );
  };
  const outbox = { sendAll } as Outbox;
  return { counted, messages: createPaymentMessages({ outbox, metrics: testMetrics }) };
}

/** Decides creations in one transaction. @param waits as in decideAll(). */
export const decide = (db: Pool, creations: readonly Creation[], waits: boolean, change: Partial<CreationRules> = {}) =>
  transaction(db, (tx) =>
    decideAll(
      tx,
      { rules: { ...rules, ...change }, messages: createdMessages().messages },
      creations.map((creation) => ({ creation, origin: {} })),
      { waits },
    ),
  );

/** The id of the payment that a creation has created. */
export const paymentIdOf = (result: CreationResult | null | undefined): string => {
  if (result?.outcome !== 'created') throw new Error(`the creation was ${result?.outcome}`);
  return (JSON.parse(result.body.toString('utf8')) as Payment).payment_id;
};
