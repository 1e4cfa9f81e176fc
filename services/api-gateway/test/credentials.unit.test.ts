import { describe, expect, test } from '@jest/globals';
import { sha256 } from '@quittance/contracts/ids.ts';
import { apiKeyHash, rotationSecretHash } from '../src/limits/merchant-route.ts';
import { fakeRequest } from './fake-request.ts';

const withHeaders = (...rawHeaders: string[]) => ({ ...fakeRequest({}), rawHeaders });

describe('the API key', () => {
  test('is taken from X-API-Key in any case, never from the query', () => {
    expect(apiKeyHash(withHeaders('x-ApI-kEy', 'qk_1'))).toEqual(sha256('qk_1'));
    expect(apiKeyHash(fakeRequest({ query: 'X-API-Key=qk_1&api_key=qk_1' }))).toBeNull();
  });

  test('is refused when given twice, even with one value, when empty, and above 255 characters', () => {
    expect(apiKeyHash(withHeaders('X-API-Key', 'qk_1', 'Accept', '*/*', 'x-api-key', 'qk_1'))).toBeNull();
    expect(apiKeyHash(withHeaders('X-API-Key', ''))).toBeNull();
    expect(apiKeyHash(withHeaders('X-API-Key', 'k'.repeat(256)))).toBeNull();
    expect(apiKeyHash(withHeaders('X-API-Key', 'k'.repeat(255)))).not.toBeNull();
  });

  test('is not taken from another header that has its name as value', () => {
    expect(apiKeyHash(withHeaders('X-Other', 'x-api-key', 'Accept', 'qk_1'))).toBeNull();
  });
});

test('a missing or empty rotation secret is none, and one that is given twice is a text that is no valid secret', () => {
  expect(rotationSecretHash(withHeaders())).toBeNull();
  expect(rotationSecretHash(withHeaders('secret-key', ''))).toBeNull();
  expect(rotationSecretHash(withHeaders('secret-key', '', 'secret-key', ''))).toBeNull();
  expect(rotationSecretHash(withHeaders('secret-key', 'qr_1', 'Secret-Key', 'qr_1'))).toEqual(sha256('qr_1, qr_1'));
  expect(rotationSecretHash(withHeaders('secret-key', '', 'Secret-Key', 'qr_1'))).toEqual(sha256(', qr_1'));
  expect(rotationSecretHash(withHeaders('Secret-Key', 'qr_1'))).toEqual(sha256('qr_1'));
});
