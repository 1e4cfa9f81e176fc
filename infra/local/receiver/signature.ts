import { createHmac, timingSafeEqual } from 'node:crypto';

/** A webhook exactly as it was received. */
export type Delivery = {
  receivedAt: Date;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
};

/**
 * Checks a webhook by the interface's verification rules, as a careful merchant would.
 * @param signingKeys the whole signing key (with whsec_) by key id.
 * @returns null when everything is right, else the problem.
 */
export function signatureProblem(
  { receivedAt, headers, body }: Delivery,
  signingKeys: ReadonlyMap<string, string>,
): string | null {
  const timestamp = headers['x-service-timestamp'] ?? '';
  const signature = headers['x-service-signature'] ?? '';
  const key = signingKeys.get(headers['x-service-key-id'] ?? '');
  if (key === undefined) return 'unknown key id';
  if (!/^[0-9]{1,12}$/.test(timestamp)) return 'malformed timestamp';
  if (Math.abs(receivedAt.getTime() / 1000 - Number(timestamp)) > 300) return 'timestamp too far from now';
  const expected = `v1=${createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex')}`;
  if (!equal(signature, expected)) return 'wrong signature';
  if (eventIdOf(body) !== headers['x-service-event-id']) return 'event id in the header is not that in the body';
  return null;
}

function equal(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function eventIdOf(body: Buffer): unknown {
  try {
    return (JSON.parse(body.toString()) as { event_id?: unknown } | null)?.event_id;
  } catch {
    return undefined;
  }
}
