import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { noOptions } from '@quittance/contracts/api/creation.ts';
import type { AccessPolicy, CreationLimits } from '@quittance/contracts/access.ts';
import type { ResponseOf } from '@quittance/contracts/call.ts';
import type { CreatePayments } from '@quittance/contracts/http/payments/payments.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { referenceOf } from '@quittance/contracts/payment-reference.ts';
import { AccessChanged, WebhookConfigured } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { withinOneDay } from '@quittance/testkit/within-one-day.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { create, newKey, newMerchant, newPayment, newWallet, policyOf } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

const tally = (answers: { status: number }[]): Record<number, number> =>
  Object.fromEntries(
    [...Map.groupBy(answers, ({ status }) => status)].map(([status, group]) => [status, group.length]),
  );

const count = async (merchantId: string): Promise<number> => {
  const { rows } = await payments.db.query<{ count: number }>(
    'select count(*)::int as count from payment where merchant_id = $1',
    [merchantId],
  );
  return rows[0]!.count;
};

const limitsOf = async (merchantId: string) =>
  (await payments.call<CreationLimits>('GET', `/merchants/${merchantId}/limits`)).json;

describe('creations of several merchants in one call', () => {
  const ask = (merchantId: string, change: object = {}) => ({
    ...{ merchant_id: merchantId, idempotency_key: newKey(), request_id: `r-${merchantId}`, network: 'local' },
    ...{ amount: '3.50', merchant_wallet: newWallet(), description: 'Tee', ...change },
  });

  test('get the answers that each would get alone; refused and invalid ones are left out and store nothing', async () => {
    const [one, other, poor] = await Promise.all([
      newMerchant(payments),
      newMerchant(payments),
      newMerchant(payments, { total_limit: 0 }),
    ]);
    const creations = [ask(one), ask(other, { description: 'Zwölf "Karten"' }), ask(poor), ask(other, { amount: 'x' })];
    const { status, json } = await payments.call<ResponseOf<typeof CreatePayments>>('POST', '/payment-creations', {
      creations,
    });
    expect(status).toBe(200);
    expect(json.created.map(({ merchant_id: merchant, replayed }) => [merchant, replayed])).toEqual([
      [one, false],
      [other, false],
    ]);
    for (const [position, { body }] of json.created.entries()) {
      const {
        merchant_id: merchant,
        idempotency_key: key,
        amount,
        merchant_wallet: wallet,
        description,
      } = creations[position]!;
      const alone = await create(payments, merchant, { key, amount, wallet, description });
      expect([alone.status, alone.headers.get('idempotency-replayed'), alone.text]).toEqual([201, 'true', body]);
    }
    expect(await count(poor)).toBe(0);
    const { rows } = await payments.db.query<{ request_id: string }>(
      `select request_id from outbox where merchant_id = any($1) union all
       select request_id from sent_message where merchant_id = any($1)`,
      [[one, other]],
    );
    expect(rows.map(({ request_id: id }) => id).toSorted()).toEqual([`r-${one}`, `r-${other}`].toSorted());
  });
});

describe('a creation', () => {
  test('201 answers the payment with every field, the amount as it was sent, and sends PaymentCreated', async () => {
    const merchantId = await newMerchant(payments);
    const wallet = newWallet();
    const answer = await create(payments, merchantId, { amount: '10.50', wallet, description: 'Zwei Karten' });
    expect(answer.status).toBe(201);
    expect(answer.headers.has('idempotency-replayed')).toBe(false);
    const { payment_id: id, created_at: created, expires_at: expires } = answer.json;
    expect(answer.json).toEqual({
      payment_id: expect.stringMatching(/^pay_[0-9a-f]{32}$/),
      payment_url: expect.stringMatching(/^https:\/\/pay\.example\/pay\/[\w-]{43}$/),
      status: 'PENDING',
      amount: '10.50',
      currency: 'USDT',
      network: 'local',
      merchant_wallet: wallet,
      description: 'Zwei Karten',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      expires_at: new Date(Date.parse(created) + 1_800_000).toISOString(),
      paid_at: null,
      cancelled_at: null,
      transaction: null,
      ...noOptions,
      metadata: {},
      requested_amount: '10.50',
      reference: referenceOf(id),
      ...{ dedicated: false, derivation_index: null, received_amount: null, rate: null },
    });
    const published = await eventually(() => {
      const found = payments.received.created.find(({ payment_id: received }) => received === id);
      if (found === undefined) throw new Error('not received yet');
      return found;
    });
    expect(published).toEqual({
      payment_id: id,
      merchant_id: merchantId,
      network: 'local',
      recipient: wallet,
      amount: '10.50',
      created_at: created,
      expires_at: expires,
    });
  });

  test('422 names a wrong amount, wallet or network, even when the gateway let it pass', async () => {
    const merchantId = await newMerchant(payments);
    const body = {
      idempotency_key: 'k',
      amount: '1',
      merchant_wallet: newWallet(),
      network: 'local',
      description: 'd',
    };
    for (const [field, value] of [
      ['amount', '0'],
      ['amount', '1e3'],
      ['network', 'ethereum'],
      ['merchant_wallet', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    ] as const) {
      const answer = await payments.call('POST', `/merchants/${merchantId}/payments`, { ...body, [field]: value });
      expect([answer.status, answer.json.detail[0]?.field]).toEqual([422, field]);
    }
    expect(await count(merchantId)).toBe(0);
  });
});

describe('the idempotency key', () => {
  test('of concurrent requests creates one payment, and all get the same bytes', () =>
    withinOneDay(async () => {
      const merchantId = await newMerchant(payments);
      const order = { key: newKey(), wallet: newWallet() };
      const answers = await Promise.all(Array.from({ length: 12 }, () => create(payments, merchantId, order)));
      expect(tally(answers)).toEqual({ 201: 12 });
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(11);
      expect(await count(merchantId)).toBe(1);
      expect(await limitsOf(merchantId)).toMatchObject({ requests_used: 1, daily_used: 1, lifetime_requests_used: 1 });
    }));

  test('with the same values in another spelling is a replay, with other values 409 that creates nothing', async () => {
    const merchantId = await newMerchant(payments);
    const order = { key: newKey(), wallet: newWallet(), amount: '10.50' };
    const first = await create(payments, merchantId, order);
    expect((await create(payments, merchantId, { ...order, amount: '10.5' })).text).toBe(first.text);
    for (const change of [{ amount: '10.51' }, { wallet: newWallet() }, { description: 'Three tickets' }]) {
      const answer = await create(payments, merchantId, { ...order, ...change });
      expect([answer.status, typeof answer.json.detail]).toEqual([409, 'string']);
    }
    expect(await count(merchantId)).toBe(1);
  });

  test('of two merchants is two keys', async () => {
    const key = newKey();
    const [one, other] = await Promise.all([newPayment(payments, { key }), newPayment(payments, { key })]);
    expect(one.payment.payment_id).not.toBe(other.payment.payment_id);
  });

  test('replays its first bytes after exhaustion, pause, block and payment', async () => {
    const merchantId = await newMerchant(payments, { total_limit: 1 });
    const order = { key: newKey(), wallet: newWallet() };
    const first = await newPayment(payments, order, merchantId);
    await first.cancel();
    expect((await create(payments, merchantId)).json.detail.code).toBe('total_quota_exhausted');
    await payments.db.query('update gate set account_active = false, creation_paused = true where merchant_id = $1', [
      merchantId,
    ]);
    const replay = await create(payments, merchantId, order);
    expect([replay.status, replay.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(JSON.parse(replay.text)).toEqual(first.payment);
  });

  test('replays without waiting for the gate; a new key that waits too long gets 503, and nothing is stored', async () => {
    const merchantId = await newMerchant(payments);
    const order = { key: newKey(), wallet: newWallet() };
    const first = await create(payments, merchantId, order);
    const holder = await payments.db.connect();
    try {
      await holder.query('begin; set local idle_in_transaction_session_timeout = 0');
      await holder.query('select from gate where merchant_id = $1 for update', [merchantId]);
      const [replay, fresh] = await Promise.all([
        create(payments, merchantId, order),
        create(payments, merchantId, {}, { once: true }),
      ]);
      expect(replay.text).toBe(first.text);
      expect([fresh.status, fresh.json]).toEqual([
        503,
        { detail: 'Service temporarily unavailable', code: 'unavailable' },
      ]);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    expect(await count(merchantId)).toBe(1);
  });
});

describe('the slot', () => {
  test('of concurrent creations for one amount on one wallet, one wins and the others are 409', async () => {
    const merchantId = await newMerchant(payments);
    const wallet = newWallet();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, position) =>
        create(payments, merchantId, { wallet, amount: position % 2 === 0 ? '7' : '7.000000' }),
      ),
    );
    expect(tally(answers)).toEqual({ 201: 1, 409: 9 });
    expect(await limitsOf(merchantId)).toMatchObject({ requests_used: 1 });
  });

  test('is free again after a cancel, and another amount is another slot', async () => {
    const { merchantId, payment, cancel } = await newPayment(payments, { amount: '8' });
    const again = { wallet: payment.merchant_wallet, amount: '8' };
    expect((await create(payments, merchantId, { ...again, amount: '8.000001' })).status).toBe(201);
    expect((await create(payments, merchantId, again)).status).toBe(409);
    await cancel();
    expect((await create(payments, merchantId, again)).status).toBe(201);
  });

  test('that is taken is refused again under the same key, announces nothing, and leaves the key to a later creation', async () => {
    const { merchantId, payment, cancel } = await newPayment(payments, { amount: '8' });
    const again = { key: newKey(), wallet: payment.merchant_wallet, amount: '8' };
    const announced = async (): Promise<number> => {
      const { rows } = await payments.db.query<{ count: number }>(
        `select count(*)::int as count
           from (select name, merchant_id from outbox union all select name, merchant_id from sent_message) message
          where name = 'PaymentCreated' and merchant_id = $1`,
        [merchantId],
      );
      return rows[0]!.count;
    };
    for (let times = 1; times <= 2; times += 1) expect((await create(payments, merchantId, again)).status).toBe(409);
    expect(await announced()).toBe(1);
    await cancel();
    const created = await create(payments, merchantId, again);
    expect([created.status, created.headers.has('idempotency-replayed')]).toEqual([201, false]);
    expect(await announced()).toBe(2);
  });
});

describe('access', () => {
  test('the last unit of a quota goes to one of many concurrent creations', () =>
    withinOneDay(async () => {
      const merchantId = await newMerchant(payments, { total_limit: 3, daily_limit: 2 });
      const answers = await Promise.all(Array.from({ length: 10 }, () => create(payments, merchantId)));
      expect(tally(answers)).toEqual({ 201: 2, 403: 8 });
      expect(
        answers
          .filter(({ status }) => status === 403)
          .every(({ json }) => json.detail.code === 'daily_quota_exhausted'),
      ).toBe(true);
      expect(await limitsOf(merchantId)).toMatchObject({ requests_used: 2, requests_left: 1, daily_left: 0 });
    }));

  test('403 carries the code and a message, and is given only after asking quota', async () => {
    const merchantId = await newMerchant(payments, { creation_paused: true });
    let before = 0;
    const answer = await insist(() => {
      before = payments.stubs.asked.quota;
      return create(payments, merchantId, {}, { once: true });
    });
    expect([answer.status, answer.json.detail]).toEqual([
      403,
      { code: 'creation_paused', message: expect.any(String) },
    ]);
    expect(payments.stubs.asked.quota).toBe(before + 1);
  });

  test('that quota permits is in force immediately, before the message comes', async () => {
    const merchantId = await newMerchant(payments, { account_active: false });
    payments.stubs.policies.set(merchantId, policyOf(merchantId, { policy_version: 2 }));
    expect((await create(payments, merchantId)).status).toBe(201);
  });

  test('of an unknown merchant and its endpoint is requested', async () => {
    const merchantId = newId('mer');
    payments.stubs.policies.set(merchantId, policyOf(merchantId));
    const order = { key: newKey(), wallet: newWallet() };
    const refused = await create(payments, merchantId, order);
    expect([refused.status, typeof refused.json.detail]).toEqual([409, 'string']);
    payments.stubs.endpoints.add(merchantId);
    expect((await create(payments, merchantId, order)).status).toBe(201);
  });

  test('503 when the owner cannot be asked or does not know the merchant, and nothing is stored', async () => {
    const blocked = await newMerchant(payments, { creation_paused: true });
    const order = { key: newKey(), wallet: newWallet() };
    payments.stubs.down.add('quota');
    try {
      expect((await create(payments, blocked, order, { once: true })).status).toBe(503);
    } finally {
      payments.stubs.down.delete('quota');
    }
    expect((await create(payments, newId('mer'), order, { once: true })).status).toBe(503);
    payments.stubs.policies.set(blocked, policyOf(blocked, { policy_version: 2 }));
    expect((await create(payments, blocked, order)).status).toBe(201);
  });

  test('is restricted once the message is handled; older versions change nothing', async () => {
    const merchantId = await newMerchant(payments);
    const publish = async (change: Parameters<typeof policyOf>[1]) => {
      const policy = policyOf(merchantId, change);
      if (policy.policy_version > payments.stubs.policies.get(merchantId)!.policy_version) {
        payments.stubs.policies.set(merchantId, policy);
      }
      await payments.publish(AccessChanged, { ...policy, changed_at: new Date().toISOString() });
    };
    const version = async () =>
      (await payments.call<AccessPolicy>('GET', `/merchants/${merchantId}/gate`)).json.policy_version;
    await publish({ policy_version: 5, creation_paused: true });
    await eventually(async () => expect(await version()).toBe(5));
    await publish({ policy_version: 4 });
    await publish({ policy_version: 6, creation_paused: true, total_limit: 7 });
    await eventually(async () => expect(await version()).toBe(6));
    expect((await create(payments, merchantId)).json.detail.code).toBe('creation_paused');
  });

  test('starts at zero with a new package, while the day and the lifetime keep counting', () =>
    withinOneDay(async () => {
      const merchantId = await newMerchant(payments);
      await newPayment(payments, {}, merchantId);
      await newPayment(payments, {}, merchantId);
      const beta = policyOf(merchantId, {
        policy_version: 2,
        access_type: 'beta',
        beta_duration_days: 30,
        beta_started_at: new Date().toISOString(),
        beta_expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString(),
        total_limit: 100,
        daily_limit: 10,
        package_number: 2,
      });
      await payments.publish(AccessChanged, { ...beta, changed_at: new Date().toISOString() });
      await eventually(async () =>
        expect(await limitsOf(merchantId)).toMatchObject({
          access_type: 'beta',
          requests_used: 0,
          requests_left: 100,
          lifetime_requests_used: 2,
          daily_used: 2,
          daily_left: 8,
        }),
      );
      await newPayment(payments, {}, merchantId);
      expect(await limitsOf(merchantId)).toMatchObject({ requests_used: 1, daily_used: 3, lifetime_requests_used: 3 });
    }));

  test('is given by WebhookConfigured, before or after the policy', async () => {
    const merchantId = newId('mer');
    await payments.publish(WebhookConfigured, { merchant_id: merchantId, configured_at: new Date().toISOString() });
    await eventually(async () => {
      const { rows } = await payments.db.query('select webhook_ok from gate where merchant_id = $1', [merchantId]);
      expect(rows).toEqual([{ webhook_ok: true }]);
    });
    expect((await payments.call('GET', `/merchants/${merchantId}/gate`)).status).toBe(404);
    // The gate alone permits nothing: without a policy, quota is asked, which does not know the merchant yet.
    expect((await create(payments, merchantId, {}, { once: true })).status).toBe(503);
    expect(await count(merchantId)).toBe(0);
    payments.stubs.policies.set(merchantId, policyOf(merchantId));
    expect((await create(payments, merchantId)).status).toBe(201);
  });

  test('limits of an unknown merchant come from quota, and are 503 when quota does not know it either', async () => {
    const merchantId = newId('mer');
    expect((await payments.call('GET', `/merchants/${merchantId}/limits`, undefined, { once: true })).status).toBe(503);
    payments.stubs.policies.set(merchantId, policyOf(merchantId, { total_limit: 5 }));
    expect(await limitsOf(merchantId)).toMatchObject({ merchant_id: merchantId, requests_left: 5, status: 'active' });
  });
});
