import { createHmac } from 'node:crypto';

/** A key that Standard Webhooks libraries can read. Older keys are in base64url without padding; see newWebhookKey(). */
const STANDARD_KEY = /^whsec_([A-Za-z0-9+/]{43}=)$/;

type SignedAttempt = { eventId: string; keyId: string; secret: string; body: Buffer; now: Date };

/**
 * The headers that identify an event, its age and its sender. Source: the API contract, "Delivery headers", and the Standard Webhooks
 * specification for those named `webhook-…`, which deliveries under an older key don't have.
 * @param attempt.secret the whole signing key, including `whsec_`.
 * @param attempt.body the exact bytes to send.
 * @param attempt.now the time of sending; receivers refuse a timestamp more than 300 s from their own clock.
 */
export function deliveryHeaders(attempt: SignedAttempt) {
  const { eventId, keyId, secret, body, now } = attempt;
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const [, encoded] = STANDARD_KEY.exec(secret) ?? [];
  return {
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': `v1=${sign(secret, 'utf8', timestamp, body).toString('hex')}`,
    'X-Service-Event-ID': eventId,
    'X-Service-Key-ID': keyId,
    ...(encoded !== undefined && {
      'webhook-id': eventId,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${sign(encoded, 'base64', `${eventId}.${timestamp}`, body).toString('base64')}`,
    }),
  };
}

/**
 * HMAC-SHA256 over a text, a dot and the raw body.
 * @param encoding of the key. Node decodes it: a Buffer as the key costs five times as much.
 */
function sign(key: string, encoding: 'utf8' | 'base64', text: string, body: Buffer): Buffer {
  return createHmac('sha256', key, { encoding }).update(`${text}.`).update(body).digest();
}
