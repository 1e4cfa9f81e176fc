import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { CreationLimits } from '@quittance/contracts/access.ts';
import { withinOneDay } from '@quittance/testkit/within-one-day.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { create, newMerchant, policyOf } from './shop.ts';

// Real processes on a busy machine take their time; nothing here passes or fails by it.
jest.setTimeout(60_000);

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

const limitsOf = (merchantId: string) => payments.call<CreationLimits>('GET', `/merchants/${merchantId}/limits`);

test('the record counts the last creation at once, whichever replica is asked', () =>
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

test('a refusal is shown only after asking the owner, as creation does before it refuses', async () => {
  const merchantId = await newMerchant(payments, { creation_paused: true });
  expect((await limitsOf(merchantId)).json).toMatchObject({ creation_block_reason: 'creation_paused' });
  payments.peers.policies.set(merchantId, policyOf(merchantId, { policy_version: 2, total_limit: 77 }));
  expect((await limitsOf(merchantId)).json).toMatchObject({ creation_allowed: true, total_limit: 77 });
  const asked = payments.peers.asked.quota;
  expect((await limitsOf(merchantId)).json).toMatchObject({ creation_allowed: true });
  // Where nothing is refused nobody need be asked.
  expect(payments.peers.asked.quota).toBe(asked);
});

test('while quota is away the record is what is known here', async () => {
  const merchantId = await newMerchant(payments, { creation_paused: true, total_limit: 9 });
  payments.peers.down.add('quota');
  try {
    expect(await limitsOf(merchantId)).toMatchObject({
      status: 200,
      json: { creation_block_reason: 'creation_paused', total_limit: 9, status: 'active' },
    });
  } finally {
    payments.peers.down.delete('quota');
  }
});
