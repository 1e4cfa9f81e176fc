import { expect, test } from '@jest/globals';
import { referenceOf } from '@quittance/contracts/payment-reference.ts';
import { type Creation, newPayment } from '../src/creation/creation.ts';

type Context = Parameters<typeof newPayment>[0];
const context: Context = {
  ...{ ttlSeconds: 1_800, walletBinding: true, publicBaseUrl: 'https://pay.example' },
  messages: { composeCreated: () => ({ body: '{"created_at":"","expires_at":""}' }) } as unknown as Context['messages'],
};
const creation: Creation = {
  ...{ merchant_id: `mer_${'a'.repeat(32)}`, idempotency_key: 'order 7', amount: '10.50', amount_units: 10_500_000n },
  ...{ merchant_wallet: 'wallet', network: 'local', description: 'tea' },
};

test('every payment gets a reference that no spreadsheet takes for a number or a date', () => {
  const references = Array.from({ length: 2_000 }, () => referenceOf(newPayment(context, creation).payment.payment_id));
  expect(references.filter((reference) => !Number.isNaN(Number(reference)))).toEqual([]);
  // Of random ones, one in six has no digits between letters.
  expect(references.filter((reference) => /^\d*[A-Z]*\d*$/.test(reference))).toEqual([]);
});
