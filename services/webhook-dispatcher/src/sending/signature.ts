import { createHmac } from 'node:crypto';

/** The headers by which a receiver knows an event, its age and its sender. Source: the API contract, "Delivery headers". */
export type DeliveryHeaders = {
  'X-Service-Timestamp': string;
  'X-Service-Signature': string;
  'X-Service-Event-ID': string;
  'X-Service-Key-ID': string;
};

/**
 * Signs one attempt.
 * @param now the moment of sending; receivers refuse a timestamp more than 300 s away from their clock.
 * @param secret the whole signing key, `whsec_` included.
 * @param body the exact bytes that go out.
 */
export function deliveryHeaders({
  eventId,
  keyId,
  secret,
  body,
  now,
}: {
  eventId: string;
  keyId: string;
  secret: string;
  body: Buffer;
  now: Date;
}): DeliveryHeaders {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  return {
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': `v1=${sign(secret, timestamp, body)}`,
    'X-Service-Event-ID': eventId,
    'X-Service-Key-ID': keyId,
  };
}

/** Hex of HMAC-SHA256 over the timestamp's text, a dot and the raw body. */
function sign(secret: string, timestamp: string, body: Buffer): string {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
}
