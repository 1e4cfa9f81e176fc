import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { newWebhookKey } from '@quittance/contracts/ids.ts';
import { deliveryHeaders } from '../src/sending/signature.ts';
import { standardLibraries } from './standard-libraries.ts';

const olderKey = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const key = `${olderKey}=`;
const body = Buffer.from('{"event_id":"evt_1","amount":"10.50","text":"café"}');
const sent = { eventId: 'evt_1', keyId: 'whk_1', secret: olderKey, body, now: new Date('2026-01-01T00:00:00.999Z') };

describe('the signature', () => {
  test('equals that of another HMAC implementation', () => {
    // printf '%s.%s' 1767225600 "$BODY" | openssl dgst -sha256 -hmac "$KEY"
    expect(deliveryHeaders(sent)).toEqual({
      'X-Service-Timestamp': '1767225600',
      'X-Service-Signature': 'v1=73f4e162a6eceffe82b87149a263de649b2b98ddbdac943f1630834e5660f8d4',
      'X-Service-Event-ID': 'evt_1',
      'X-Service-Key-ID': 'whk_1',
    });
  });

  test('under a key in standard base64 has the headers of Standard Webhooks too', () => {
    // The first as above. The second: printf 'evt_1.%s.%s' 1767225600 "$BODY" | openssl dgst -sha256 -mac HMAC -macopt hexkey:00… -binary | base64
    expect(deliveryHeaders({ ...sent, secret: key })).toEqual({
      'X-Service-Timestamp': '1767225600',
      'X-Service-Signature': 'v1=c687f5c860a7a2a3c69a1b46ef18b830146acbbe2e8f432430cd06f16f10d3ca',
      'X-Service-Event-ID': 'evt_1',
      'X-Service-Key-ID': 'whk_1',
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1767225600',
      'webhook-signature': 'v1,BeNIuZ0kSxARwh8HTaYZ49PByXaERA60w/0f0kmYxTU=',
    });
  });

  test('is valid for a receiver that follows the contract', () => {
    const headers = deliveryHeaders(sent);
    const timestamp = headers['X-Service-Timestamp'];
    expect(timestamp).toMatch(/^\d{1,12}$/);
    const expected = createHmac('sha256', olderKey).update(Buffer.concat([Buffer.from(`${timestamp}.`), body]));
    const given = Buffer.from(headers['X-Service-Signature']);
    expect(timingSafeEqual(given, Buffer.from(`v1=${expected.digest('hex')}`))).toBe(true);
  });

  test.each([
    ['X-Service-Signature', olderKey],
    ['webhook-signature', key],
  ] as const)('in %s changes with the key, the body and the second', (name, secret) => {
    const signatures = [
      { ...sent, secret },
      { ...sent, secret: secret.replace('_A', '_B') },
      { ...sent, secret, body: Buffer.concat([body, Buffer.from(' ')]) },
      { ...sent, secret, now: new Date('2026-01-01T00:00:01Z') },
    ].map((attempt) => deliveryHeaders(attempt)[name]);
    expect(new Set(signatures).size).toBe(4);
  });

  test.each([
    ['base64url without padding', olderKey],
    ['base64url without padding, with characters of its own', olderKey.replace('_AA', '_-_')],
    ['base64url with padding', key.replace('_AA', '_-_')],
    ['less than 32 bytes', 'whsec_AAAA'],
    ['nothing', 'whsec_'],
    ['a line break', `${key}\n`],
    ['something before it', `x${key}`],
  ])('under a key of %s is ours alone', (_name, secret) => {
    expect(Object.keys(deliveryHeaders({ ...sent, secret })).filter((name) => name.startsWith('webhook'))).toEqual([]);
  });
});

describe.each(standardLibraries)('the library %s', (_name, verify) => {
  test('reads 200 new keys, and believes what they sign', () => {
    const keys = Array.from({ length: 200 }, newWebhookKey);
    const now = new Date();
    for (const secret of keys) {
      const headers = deliveryHeaders({ ...sent, secret, now });
      expect(() => verify(secret, headers, body)).not.toThrow();
      expect(() => verify(secret, headers, Buffer.concat([body, Buffer.from(' ')]))).toThrow('No matching signature');
    }
    expect(new Set(keys).size).toBe(200);
  });

  describe('and docs/vectors/webhook-signatures.json', () => {
    beforeEach(() => void jest.useFakeTimers());
    afterEach(() => void jest.useRealTimers());

    type Vector = {
      name: string;
      standard_webhooks?: boolean;
      problem: string | null;
      now: number;
      signing_keys: Record<string, string>;
      headers: Record<string, string>;
      body: string;
    };
    const file = new URL('../../../docs/vectors/webhook-signatures.json', import.meta.url);
    const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: Vector[] };
    const standard = cases.filter(({ headers }) => 'webhook-signature' in headers);

    test.each(standard.map((vector) => [vector.name, vector] as const))('agree about %s', (_case, vector) => {
      jest.setSystemTime(vector.now * 1_000);
      const secret = vector.signing_keys[vector.headers['X-Service-Key-ID']!]!;
      const judge = expect(() => verify(secret, vector.headers, Buffer.from(vector.body)));
      if (vector.standard_webhooks === true) judge.not.toThrow();
      else judge.toThrow(vector.problem === 'signature_wrong' ? 'No matching signature' : 'timestamp too old');
    });

    test('have requests of both kinds, and a word about each', () => {
      expect(cases.filter(({ standard_webhooks: word }) => word !== undefined)).toEqual(standard);
      const words = standard.map(({ standard_webhooks: word }) => word);
      expect([words.includes(true), words.includes(false)]).toEqual([true, true]);
    });
  });
});
