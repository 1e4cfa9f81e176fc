import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { type TestDatabase, testDatabase, testPool } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';
import { findViolations, type Observations } from './invariants.ts';

let database: TestDatabase;
let db: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  db = testPool({ url: database.url, schema, max: 2 });
  await db.query(sound);
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

const waiting = 'pay_1';
const paid = 'pay_2';

/** One merchant, a waiting payment and a paid one, as the service leaves them. */
const sound = `
  insert into gate (merchant_id, policy_version, total_limit, daily_limit, webhook_ok, used_lifetime, used_day, used_today)
  values ('mer_1', 1, 5, 5, true, 2, (now() at time zone 'UTC')::date, 2);
  insert into payment (payment_id, merchant_id, public_token, token_sha256, status, network, recipient, amount, amount_units, description,
                       created_at, expires_at, paid_at, expiry_check_at)
  select 'pay_' || n, 'mer_1', repeat(n::text, 43), decode(repeat('0' || n, 32), 'hex'), status, 'local', '0xA', '1.50', 1500000, 'Two',
         now(), now() + interval '1 hour', case status when 'PAID' then now() end, now()
    from (values (1, 'PENDING'), (2, 'PAID')) as p (n, status);
  insert into idempotent_reply (merchant_id, idempotency_key, created_at, fingerprint, body)
  select merchant_id, 'key ' || payment_id, created_at, '', convert_to(json_build_object(
           'payment_id', payment_id, 'payment_url', 'https://pay.example/pay/' || public_token, 'status', 'PENDING', 'amount', amount,
           'network', network, 'merchant_wallet', recipient, 'description', description,
           'created_at', created_at, 'expires_at', expires_at)::text, 'UTF8')
    from payment;
  insert into transfer (network, transaction_id, transaction_event_index, version, phase, merchant_id, block_number, block_hash,
                        block_timestamp, sender, recipient, amount_units, decimals, confirmations, confirmations_required, payment_id,
                        observed_at)
  values ('local', 'ab', 0, 1, 'confirmed', 'mer_1', 1, '0x', now(), '0xB', '0xA', 1500000, 6, 2, 2, 'pay_2', now()),
         ('local', 'cd', 0, 1, 'confirmed', 'mer_1', 1, '0x', now(), '0xB', '0xA', 1500000, 6, 2, 2, null, now());
  insert into outbox (message_id, name, version, merchant_id, body, request_id)
  select gen_random_uuid(), name, 1, 'mer_1', body::text, 'r' from (values
    ('PaymentCreated', '{"payment_id": "pay_1"}'), ('PaymentCreated', '{"payment_id": "pay_2"}'),
    ('PaymentClosed', '{"payment_id": "pay_2", "status": "PAID"}'),
    ('PaymentPaid', '{"payment_id": "pay_2", "expected_amount": "1.50", "description": "Two", "transaction_id": "ab", "transaction_event_index": 0}')
  ) as m (name, body)`;

/** The violations after some statements, which are then rolled back. */
async function violationsAfter(statements: string, witness?: Observations): Promise<string[]> {
  let found: string[] = [];
  const undo = new Error('undo');
  await transaction(db, async (tx) => {
    await tx.query(statements);
    found = await findViolations(tx, witness);
    throw undo;
  }).catch((error: unknown) => {
    if (error !== undo) throw error;
  });
  return found;
}

const bodyOf = async (paymentId: string): Promise<string> => {
  const { rows } = await db.query<{ body: string }>(
    `select convert_from(body, 'UTF8') as body from idempotent_reply where idempotency_key = 'key ' || $1`,
    [paymentId],
  );
  return rows[0]!.body;
};

describe('the invariants', () => {
  test('hold for the service’s own rows', async () => {
    const answered = [{ merchantId: 'mer_1', idempotencyKey: 'key pay_1', body: await bodyOf(waiting) }];
    expect(await findViolations(db, { answered, wasPaid: [paid], limitsStood: true })).toEqual([]);
    expect(await findViolations(db, { merchants: ['mer_1'] })).toEqual([]);
  });

  test.each([
    [
      'I1 a payment',
      `alter table transfer drop constraint transfer_payment_id_key; update transfer set payment_id = 'pay_2'`,
    ],
    ['I1 status', `update transfer set payment_id = null`],
    ['I1 status', `update transfer set payment_id = 'pay_1' where transaction_id = 'cd'`],
    [
      'I1 a transfer counts',
      `update transfer set related_payment_id = 'pay_1', counted = true where transaction_id = 'cd'`,
    ],
    [
      'I1 an address of its own is PAID',
      `update payment set rest_seconds = 3600, paid_units = 1499999 where payment_id = 'pay_2'`,
    ],
    ['I1 what has paid', `update payment set rest_seconds = 3600, paid_units = 1500001 where payment_id = 'pay_2'`],
    [
      'I2 an address of its own',
      `drop index payment_dedicated_open;
       update payment set rest_seconds = 3600, status = 'PENDING', paid_at = null, amount_units = amount_units + right(payment_id, 1)::integer`,
    ],
    [
      'I18 a part',
      `update payment set rest_seconds = 3600, paid_units = 3000000 where payment_id = 'pay_2';
       update transfer set related_payment_id = 'pay_2', counted = true, first_seen_at = now() - interval '1 hour'
        where transaction_id = 'cd'`,
    ],
    ['I2', `drop index payment_slot; update payment set status = 'PENDING', paid_at = null`],
    ['I3 counters', `update gate set used_lifetime = 3`],
    ['I3 counters', `update gate set used_today = 1`],
    ['I3 counters', `update gate set used_day = used_day - 1`],
    ['I3 nobody', `delete from gate`],
    ['I4 a saved', `update payment set amount = '1.5'`],
    ['I4 a saved', `update idempotent_reply set merchant_id = 'mer_2'`],
    [
      'I6 a key',
      `insert into idempotent_reply
       select merchant_id, idempotency_key, created_at + interval '1 second', fingerprint, body from idempotent_reply limit 1`,
    ],
    [
      'I6 a payment',
      `update idempotent_reply set body = (select body from idempotent_reply order by idempotency_key limit 1)`,
    ],
    ['I5 a creation', `delete from outbox where body like '%pay_1%'`],
    ['I5 nothing', `update outbox set body = replace(body, 'pay_1', 'pay_3')`],
    ['I7 PAID', `delete from outbox where name = 'PaymentPaid'`],
    [
      'I7 PAID',
      `insert into outbox select gen_random_uuid(), name, version, merchant_id, body, request_id from outbox`,
    ],
    ['I7 PaymentPaid', `update outbox set body = replace(body, '1.50', '1.5')`],
    ['I10 a payment', `delete from outbox where name = 'PaymentClosed'`],
    ['I10 a payment', `update payment set status = 'EXPIRED' where payment_id = 'pay_1'`],
  ])('find what breaks %s: %s', async (name, statements) => {
    expect((await violationsAfter(statements)).join('\n')).toContain(name);
  });

  test('find a 201 without its payment, and one that was replayed with other bytes', async () => {
    const body = await bodyOf(waiting);
    const answered = [body, body.replace('1.50', '1.5')].map((text) => ({
      ...{ merchantId: 'mer_1', idempotencyKey: 'key pay_1', body: text },
    }));
    expect((await findViolations(db, { answered })).join('\n')).toContain('I4 a replay');
    const foreign = [{ ...answered[0]!, merchantId: 'mer_2' }];
    expect((await findViolations(db, { answered: foreign })).join('\n')).toContain('I5 every 201');
  });

  test('find a payment that is no longer PAID, and a limit that was exceeded', async () => {
    expect((await findViolations(db, { wasPaid: [waiting] })).join('\n')).toContain('I10 PAID');
    expect((await violationsAfter('update gate set total_limit = 1', { limitsStood: true })).join('\n')).toContain(
      'I3 no limit',
    );
    expect((await violationsAfter('update gate set daily_limit = 1', { limitsStood: true })).join('\n')).toContain(
      'I3 no limit',
    );
  });

  test('count a message once that was received and is still in the outbox', async () => {
    const { rows: received } = await db.query<{ message_id: string; name: string; body: string }>(
      'select message_id::text, name, body from outbox',
    );
    expect(await findViolations(db, { received })).toEqual([]);
    expect(await violationsAfter('delete from outbox', { received })).toEqual([]);
  });
});
