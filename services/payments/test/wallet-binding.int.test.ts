import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CreationLimits } from '@quittance/contracts/access.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { create, newMerchant, newWallet } from './fixtures.ts';

// Real processes on a busy machine take their time; nothing here passes or fails by it.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2, settings: { WALLET_BINDING: 'off' } });
});
afterAll(() => payments.close());

test('with WALLET_BINDING=off merchants share a wallet, but only one gets a slot and only it is counted', async () => {
  const wallet = newWallet();
  const merchants = await Promise.all(Array.from({ length: 6 }, () => newMerchant(payments)));
  const own = await Promise.all(
    merchants.map((merchantId, position) => create(payments, merchantId, { wallet, amount: String(position + 1) })),
  );
  expect(own.map(({ status }) => status)).toEqual(merchants.map(() => 201));
  const shared = await Promise.all(
    merchants.map((merchantId) => create(payments, merchantId, { wallet, amount: '99' })),
  );
  expect(shared.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  for (const [position, merchantId] of merchants.entries()) {
    const { json } = await payments.call<CreationLimits>('GET', `/merchants/${merchantId}/limits`);
    expect(json.lifetime_requests_used).toBe(shared[position]?.status === 201 ? 2 : 1);
  }
});
