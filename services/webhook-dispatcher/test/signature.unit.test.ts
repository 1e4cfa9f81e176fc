import { createHmac, timingSafeEqual } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { deliveryHeaders } from '../src/sending/signature.ts';

const secret = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const body = Buffer.from('{"event_id":"evt_1","amount":"10.50","text":"café"}');
const sent = { eventId: 'evt_1', keyId: 'whk_1', secret, body, now: new Date('2026-01-01T00:00:00.999Z') };

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

  test('is valid for a receiver that follows the contract', () => {
    const headers = deliveryHeaders(sent);
    const timestamp = headers['X-Service-Timestamp'];
    expect(timestamp).toMatch(/^\d{1,12}$/);
    const expected = createHmac('sha256', secret).update(Buffer.concat([Buffer.from(`${timestamp}.`), body]));
    const given = Buffer.from(headers['X-Service-Signature']);
    expect(timingSafeEqual(given, Buffer.from(`v1=${expected.digest('hex')}`))).toBe(true);
  });

  test('changes with the key, the body and the second', () => {
    const signatures = [
      sent,
      { ...sent, secret: `${secret}x` },
      { ...sent, body: Buffer.concat([body, Buffer.from(' ')]) },
      { ...sent, now: new Date('2026-01-01T00:00:01Z') },
    ].map((attempt) => deliveryHeaders(attempt)['X-Service-Signature']);
    expect(new Set(signatures).size).toBe(4);
  });
});
