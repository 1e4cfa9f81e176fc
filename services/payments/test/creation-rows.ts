import { randomUUID } from 'node:crypto';
import { newId, newPublicToken, sha256 } from '@quittance/contracts/ids.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { testDatabase, testPool } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';
import type { NewPayment } from '../src/store/new-payment.ts';

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

/** A merchant that may create, without the messages that would bring it here. */
export async function newGate(db: Pool, merchantId = newId('mer'), totalLimit = 100): Promise<string> {
  await db.query(
    `insert into gate (merchant_id, policy_version, access_type, account_active, creation_paused, beta_duration_days, total_limit,
                       package_number, webhook_ok)
     values ($1, 1, 'legacy', true, false, 30, $2, 1, true)`,
    [merchantId, totalLimit],
  );
  return merchantId;
}

/**
 * What a creation writes.
 * @param change of the payment; columns may be left out that a process of an earlier release does not know.
 * @param message its fields beyond those that every process writes.
 */
export function newCreation(
  merchantId: string,
  change: Partial<NewPayment['payment']> = {},
  message: { message_id?: string; traceparent?: string } = {},
): NewPayment {
  const token = newPublicToken();
  const common = { message_id: randomUUID(), name: 'PaymentCreated', version: 1, merchant_id: merchantId };
  return {
    payment: {
      payment_id: newId('pay'),
      merchant_id: merchantId,
      public_token: token,
      token_sha256: sha256(token),
      network: 'local',
      recipient: newId('whk'),
      amount: '1',
      amount_units: 1_000_000n,
      description: 'coffee',
      ...change,
    } as NewPayment['payment'],
    ttlSeconds: 1800,
    bindWallet: false,
    idempotencyKey: randomUUID(),
    fingerprint: sha256('request'),
    equalFingerprint: null,
    reply: ['{"a":"', '","b":"', '"}'],
    message: { ...common, request_id: 'r-1', ...message, body: ['{"a":"', '","b":"', '"}'] } as NewPayment['message'],
  };
}
