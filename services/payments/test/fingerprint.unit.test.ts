import { expect, test } from '@jest/globals';
import { fingerprintOf } from '../src/creation/fingerprint.ts';

const TTL = 1800;
const plain = {
  amount: '10.50',
  amount_units: 10_500_000n,
  merchant_wallet: '0x8ba1f109551bD432803012645Ac136ddd64DBA72',
  network: 'ethereum',
  description: 'Order 1007',
};
const of = (options: Partial<Parameters<typeof fingerprintOf>[0]> = {}) =>
  fingerprintOf({ ...plain, ...options }, TTL).toString('hex');

test('a request without options has the fingerprint of the releases that knew none', () => {
  expect(of()).toBe('674bdbe1a372306b5405822118f1e7d404c8eaa04750ceb91967ca176c3ccf2e');
});

test('an option that says what its absence says changes nothing', () => {
  expect(of({ expires_in: TTL, unique_amount: false })).toBe(of());
});

test('each option and each of its values has its own fingerprint', () => {
  const requests = [
    {},
    { order_id: 'a' },
    { order_id: 'b' },
    { metadata: { a: 'b' } },
    { metadata: { a: 'c' } },
    { metadata: { b: 'a' } },
    { metadata: { a: 'b', b: 'a' } },
    { return_url: 'https://shop.example' },
    { expires_in: 900 },
    { unique_amount: true },
    { order_id: 'a', unique_amount: true },
  ];
  expect(new Set(requests.map(of)).size).toBe(requests.length);
});

test('the order of the metadata is no difference', () => {
  expect(of({ metadata: { a: '1', b: '2' } })).toBe(of({ metadata: { b: '2', a: '1' } }));
});
