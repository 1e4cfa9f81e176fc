import { createHmac } from 'node:crypto';

/**
 * The headers that identify an event, its age and its sender. Source: the API contract, "Delivery headers".
 * @param attempt.secret the whole signing key, including `whsec_`.
 * @param attempt.body the exact bytes to send.
 * @param attempt.now the time of sending; receivers refuse a timestamp more than 300 s from their own clock.
 */
export function deliveryHeaders(attempt: { eventId: string; keyId: string; secret: string; body: Buffer; now: Date }) {
  const timestamp = String(Math.floor(attempt.now.getTime() / 1000));
  return {
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': `v1=${sign(attempt.secret, timestamp, attempt.body)}`,
    'X-Service-Event-ID': attempt.eventId,
    'X-Service-Key-ID': attempt.keyId,
  };
}

/** Hex of HMAC-SHA256 over the timestamp's text, a dot and the raw body. */
function sign(secret: string, timestamp: string, body: Buffer): string {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
}
