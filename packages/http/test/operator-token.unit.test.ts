import { describe, expect, test } from '@jest/globals';
import { sharedTrust, trustOf } from '@quittance/testkit/trust.ts';
import { issueOperatorToken, OPERATOR_TOKEN_SECONDS, readOperatorToken } from '../src/operator-token.ts';

const issuer = trustOf('api-gateway');
const reader = trustOf('quota');
const now = new Date('2026-01-31T12:00:00.000Z');
const olga = { name: 'olga', role: 'support' } as const;
const token = issueOperatorToken(issuer, olga, now);
const after = (seconds: number) => new Date(now.getTime() + seconds * 1000);

describe("an operator's token", () => {
  test('identifies a person until it expires', () => {
    expect(readOperatorToken(reader, token, now)).toEqual(olga);
    expect(readOperatorToken(reader, token, after(OPERATOR_TOKEN_SECONDS - 1))).toEqual(olga);
    expect(readOperatorToken(reader, token, after(OPERATOR_TOKEN_SECONDS))).toBeNull();
  });

  test("is accepted when its issuer's clock is 30 s ahead, but not with a lifetime beyond the longest", () => {
    expect(readOperatorToken(reader, token, after(-30))).toEqual(olga);
    expect(readOperatorToken(reader, token, after(-31))).toBeNull();
    expect(readOperatorToken(reader, issueOperatorToken(issuer, olga, new Date('2057-01-31')), now)).toBeNull();
  });

  test.each(['payments', 'chain-watcher', 'webhook-dispatcher', 'quota', 'ops'] as const)(
    'is signed by api-gateway alone, not by %s',
    (name) => expect(readOperatorToken(reader, issueOperatorToken(trustOf(name), olga, now), now)).toBeNull(),
  );

  test('cannot be given another role', () => {
    const [, , signature] = token.split('.');
    const claims = { ...olga, role: 'admin', expires_at: after(60).getTime() / 1000 };
    const forged = `${Buffer.from(JSON.stringify(claims)).toString('base64url')}..${signature}`;
    expect(readOperatorToken(reader, forged, now)).toBeNull();
  });

  test('with a role that this release does not know is refused', () => {
    const unknown = issueOperatorToken(issuer, { name: 'olga', role: 'owner' as 'admin' }, now);
    expect(readOperatorToken(reader, unknown, now)).toBeNull();
  });

  test("of a merchant's person names one merchant, and is refused without it", () => {
    const anna = {
      name: 'anna',
      role: 'merchant',
      merchant_id: `mer_${'a'.repeat(32)}`,
      merchant_role: 'viewer',
    } as const;
    expect(readOperatorToken(reader, issueOperatorToken(issuer, anna, now), now)).toEqual(anna);
    for (const merchant_id of ['', 'mer_1', undefined as unknown as string])
      expect(readOperatorToken(reader, issueOperatorToken(issuer, { ...anna, merchant_id }, now), now)).toBeNull();
    const both = issueOperatorToken(issuer, { ...anna, role: 'viewer' } as never, now);
    expect(readOperatorToken(reader, both, now)).toEqual({ name: 'anna', role: 'viewer' });
  });

  test.each(['', '.', '..', 'x', `${token}.`, `${token}.x`, token.slice(0, -2), `.${token}`, `${token}, ${token}`])(
    '%p is none',
    (text) => expect(readOperatorToken(reader, text, now)).toBeNull(),
  );
});

describe('while an installation from before signing keys is upgraded', () => {
  const shared = 'k'.repeat(32);
  const old = sharedTrust(shared);
  const { signer } = issuer;
  const both = issueOperatorToken({ signer, sharedTokens: [shared] }, olga, now);

  test('a token is accepted by services with the shared token, by those with keys, and by those with both', () => {
    for (const trust of [old, reader, { ...reader, sharedTokens: [shared] }])
      expect(readOperatorToken(trust, both, now)).toEqual(olga);
  });

  test('a service accepts signatures by either of two shared tokens, and none once it has no shared token', () => {
    const before = issueOperatorToken(old, olga, now);
    expect(before.split('.')).toHaveLength(2);
    expect(readOperatorToken({ ...reader, sharedTokens: ['n'.repeat(32), shared] }, before, now)).toEqual(olga);
    expect(readOperatorToken({ ...reader, sharedTokens: ['n'.repeat(32)] }, before, now)).toBeNull();
    expect(readOperatorToken(reader, before, now)).toBeNull();
  });
});
