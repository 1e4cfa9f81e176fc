import { expect, test } from '@jest/globals';
import { rateLimits } from '../src/limits/admission.ts';

test('the limits are those of the API contract', () => {
  const limits = Object.values(rateLimits).map(
    ({ scope, limit, windowSeconds }) => `${scope} ${limit}/${windowSeconds}s`,
  );
  expect(limits).toEqual([
    'shared_reads 120/60s',
    'creation 30/60s',
    'cancellation 60/60s',
    'webhook_settings 10/60s',
    'manual_retry 5/3600s',
    'key_rotation 5/60s',
    'public_status 120/60s',
    'checkout_look_up 6/60s',
  ]);
});

test('no two counters share a scope', () => {
  const scopes = Object.values(rateLimits).map(({ scope }) => scope);
  expect(new Set(scopes).size).toBe(scopes.length);
});
