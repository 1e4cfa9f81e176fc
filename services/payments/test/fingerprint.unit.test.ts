import { expect, test } from '@jest/globals';
import { fingerprintsOf } from '../src/payment/fingerprint.ts';

const TTL = 1800;
const plain = {
  amount: '10.50',
  amount_units: 10_500_000n,
  merchant_wallet: '0x8ba1f109551bD432803012645Ac136ddd64DBA72',
  network: 'ethereum',
  description: 'Order 1007',
};
const both = (options: Partial<Parameters<typeof fingerprintsOf>[0]> = {}, ttl = TTL) => {
  const { fingerprint, equal_fingerprint } = fingerprintsOf({ ...plain, ...options }, ttl);
  return { said: fingerprint.toString('hex'), equal: equal_fingerprint?.toString('hex') ?? null };
};
const of = (options: Parameters<typeof both>[0] = {}) => both(options).said;

test('a request without options has the fingerprint of the releases that knew none', () => {
  expect(of()).toBe('674bdbe1a372306b5405822118f1e7d404c8eaa04750ceb91967ca176c3ccf2e');
});

test('an option that says what its absence says changes nothing', () => {
  expect(of({ unique_amount: false })).toBe(of());
});

test('expires_in of the setting and its absence are each other’s equal; any other has none', () => {
  const [absent, said] = [both(), both({ expires_in: TTL })];
  expect(said).toEqual({ said: absent.equal, equal: absent.said });
  expect(said.said).not.toBe(absent.said);
  expect(both({ expires_in: 900 }).equal).toBeNull();
});

test('what a request says has one fingerprint, whatever the setting', () => {
  for (const options of [{}, { expires_in: TTL }, { expires_in: 900, order_id: 'a' }])
    expect(both(options, 900).said).toBe(both(options).said);
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
    { expires_in: TTL },
    { unique_amount: true },
    { order_id: 'a', unique_amount: true },
  ];
  expect(new Set(requests.map((options) => of(options))).size).toBe(requests.length);
});

test('the order of the metadata is no difference', () => {
  expect(of({ metadata: { a: '1', b: '2' } })).toBe(of({ metadata: { b: '2', a: '1' } }));
});
