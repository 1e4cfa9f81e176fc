import { describe, expect, test } from '@jest/globals';
import { sharedTrust, trustOf } from '@quittance/testkit/trust.ts';
import {
  CALL_TOKEN_HEADER,
  createCallerHeaders,
  createCallTokenReader,
  SHARED_TOKEN_HEADER,
} from '../src/call-token.ts';

const start = Date.parse('2026-01-31T12:00:00.000Z');
const { publicKeys } = trustOf('payments');

/** A caller and a service, each with a clock that the test sets. */
function parties() {
  const clock = { caller: start, service: start };
  const show = createCallerHeaders('api-gateway', trustOf('api-gateway'), () => clock.caller);
  const read = createCallTokenReader('payments', publicKeys, () => clock.service);
  return { clock, token: () => show('payments')[CALL_TOKEN_HEADER] ?? '', show, read };
}

describe('a call token', () => {
  test('identifies the caller to the service that it is for and to no other', () => {
    const { show, read } = parties();
    expect(read(show('payments')[CALL_TOKEN_HEADER] ?? '')).toBe('api-gateway');
    expect(read(show('quota')[CALL_TOKEN_HEADER] ?? '')).toBeNull();
  });

  test('is reused for a minute, and renewed before it expires', () => {
    const { clock, token } = parties();
    const first = token();
    clock.caller += 59_000;
    expect(token()).toBe(first);
    clock.caller += 1_000;
    expect(token()).not.toBe(first);
  });

  test('lasts for two minutes, even where it was read before', () => {
    const { clock, token, read } = parties();
    const first = token();
    expect(read(first)).toBe('api-gateway');
    clock.service += 119_000;
    expect(read(first)).toBe('api-gateway');
    clock.service += 1_000;
    expect(read(first)).toBeNull();
  });

  test('is renewed by a caller whose clock was set back', () => {
    const { clock, token, read } = parties();
    token();
    clock.caller -= 3_600_000;
    clock.service -= 3_600_000;
    expect(read(token())).toBe('api-gateway');
  });

  test("is accepted when the caller's clock is 30 s ahead, but not with a lifetime beyond the longest", () => {
    const { clock, token, read } = parties();
    clock.service -= 30_000;
    expect(read(token())).toBe('api-gateway');
    clock.service -= 1_000;
    expect(read(token())).toBeNull();
  });

  test('is valid only for the caller whose key signed it', () => {
    const { token, read } = parties();
    const [text = '', signature = ''] = token().split('.');
    const claims = JSON.parse(Buffer.from(text, 'base64url').toString()) as object;
    for (const changed of [
      { caller: 'ops' },
      { audience: 'quota' },
      { expires_at: 9_999_999_999 },
      { caller: 'nobody' },
    ]) {
      const forged = Buffer.from(JSON.stringify({ ...claims, ...changed })).toString('base64url');
      expect(read(`${forged}.${signature}`)).toBeNull();
    }
    const impostor = createCallerHeaders('ops', trustOf('quota'), () => start)('payments')[CALL_TOKEN_HEADER] ?? '';
    expect(read(impostor)).toBeNull();
  });

  test.each(['', '.', 'x.y', 'e30.x', '..', 'bnVsbA.x'])('%p is not a token', (text) =>
    expect(parties().read(text)).toBeNull(),
  );
});

test('a process sends the shared token while there is one, and its own as soon as it has a key', () => {
  const { signer } = trustOf('api-gateway');
  const { sharedTokens } = sharedTrust('s'.repeat(32));
  const headersOf = (trust: Parameters<typeof createCallerHeaders>[1]) =>
    Object.keys(createCallerHeaders('api-gateway', trust)('payments'));
  expect(headersOf({ signer: null, sharedTokens })).toEqual([SHARED_TOKEN_HEADER]);
  expect(headersOf({ signer, sharedTokens })).toEqual([CALL_TOKEN_HEADER, SHARED_TOKEN_HEADER]);
  expect(headersOf({ signer, sharedTokens: [] })).toEqual([CALL_TOKEN_HEADER]);
});
