import { describe, expect, test } from '@jest/globals';
import { issueOperatorToken, OPERATOR_TOKEN_SECONDS, readOperatorToken } from '../src/operator-token.ts';

const key = 'k'.repeat(32);
const now = new Date('2026-01-31T12:00:00.000Z');
const olga = { name: 'olga', role: 'support' } as const;
const token = issueOperatorToken(key, olga, now);
const after = (seconds: number) => new Date(now.getTime() + seconds * 1000);

describe("an operator's token", () => {
  test('says who somebody is until it lapses', () => {
    expect(readOperatorToken([key], token, now)).toEqual(olga);
    expect(readOperatorToken([key], token, after(OPERATOR_TOKEN_SECONDS - 1))).toEqual(olga);
    expect(readOperatorToken([key], token, after(OPERATOR_TOKEN_SECONDS))).toBeNull();
  });

  test('is believed by a service that has either of two internal tokens, and by no other', () => {
    expect(readOperatorToken(['n'.repeat(32), key], token, now)).toEqual(olga);
    expect(readOperatorToken(['n'.repeat(32)], token, now)).toBeNull();
    expect(readOperatorToken([], token, now)).toBeNull();
  });

  test('cannot be given another role', () => {
    const [, signature] = token.split('.');
    const claims = { ...olga, role: 'admin', expires_at: after(60).getTime() / 1000 };
    const forged = `${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
    expect(readOperatorToken([key], forged, now)).toBeNull();
  });

  test('of a role that this release does not know is none', () => {
    const unknown = issueOperatorToken(key, { name: 'olga', role: 'owner' as 'admin' }, now);
    expect(readOperatorToken([key], unknown, now)).toBeNull();
  });

  test("of a merchant's person names one merchant, and is nobody's without it", () => {
    const anna = { name: 'anna', role: 'merchant', merchant_id: `mer_${'a'.repeat(32)}` } as const;
    expect(readOperatorToken([key], issueOperatorToken(key, anna, now), now)).toEqual(anna);
    for (const merchant_id of ['', 'mer_1', undefined as unknown as string])
      expect(readOperatorToken([key], issueOperatorToken(key, { ...anna, merchant_id }, now), now)).toBeNull();
    const both = issueOperatorToken(key, { ...anna, role: 'viewer' } as never, now);
    expect(readOperatorToken([key], both, now)).toEqual({ name: 'anna', role: 'viewer' });
  });

  test.each(['', '.', 'x', `${token}.`, `${token}.x`, token.slice(0, -1), `.${token}`, `${token}, ${token}`])(
    '%p is none',
    (text) => expect(readOperatorToken([key], text, now)).toBeNull(),
  );
});
