import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CreationLimits } from '@quittance/contracts/access.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withinOneDay } from '@quittance/testkit/within-one-day.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { create, newMerchant, policyOf } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

const limitsOf = (merchantId: string) => payments.call<CreationLimits>('GET', `/merchants/${merchantId}/limits`);

test('the limits record counts the last creation immediately, on every replica', () =>
  withinOneDay(async () => {
    const merchantId = await newMerchant(payments, { total_limit: 5, daily_limit: 4 });
    for (let created = 1; created <= 4; created += 1) {
      expect((await create(payments, merchantId)).status).toBe(201);
      for (let replica = 0; replica < 2; replica += 1) {
        expect((await limitsOf(merchantId)).json).toMatchObject({
          ...{ requests_used: created, requests_left: 5 - created, lifetime_requests_used: created },
          ...{ daily_used: created, daily_left: 4 - created, creation_allowed: created < 4 },
        });
      }
    }
  }));

test('the limits record shows a refusal only after asking quota, as creation does before it refuses', async () => {
  const merchantId = await newMerchant(payments, { creation_paused: true });
  expect((await limitsOf(merchantId)).json).toMatchObject({ creation_block_reason: 'creation_paused' });
  payments.stubs.policies.set(merchantId, policyOf(merchantId, { policy_version: 2, total_limit: 77 }));
  // When quota answers too late on a busy machine, the record is what payments has stored.
  await eventually(async () =>
    expect((await limitsOf(merchantId)).json).toMatchObject({ creation_allowed: true, total_limit: 77 }),
  );
  const asked = payments.stubs.asked.quota;
  expect((await limitsOf(merchantId)).json).toMatchObject({ creation_allowed: true });
  // When nothing is refused, quota is not asked.
  expect(payments.stubs.asked.quota).toBe(asked);
});

test('while quota is down the limits record is what payments has stored', async () => {
  const merchantId = await newMerchant(payments, { creation_paused: true, total_limit: 9 });
  payments.stubs.down.add('quota');
  try {
    expect(await limitsOf(merchantId)).toMatchObject({
      status: 200,
      json: { creation_block_reason: 'creation_paused', total_limit: 9, status: 'active' },
    });
  } finally {
    payments.stubs.down.delete('quota');
  }
});
