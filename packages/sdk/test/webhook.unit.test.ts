import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { verifyWebhook, WebhookVerificationError, type VerificationProblem } from '../src/webhook.ts';

type Vector = {
  name: string;
  accepted: boolean;
  problem: VerificationProblem | null;
  now: number;
  signing_keys: Record<string, string>;
  headers: Record<string, string>;
  body?: string;
  body_base64?: string;
};

const file = new URL('../../../docs/vectors/webhook-signatures.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: Vector[] };
const [genuine] = cases as [Vector];

const bodyOf = ({ body, body_base64: base64 }: Vector): Uint8Array =>
  base64 === undefined ? new TextEncoder().encode(body) : Buffer.from(base64, 'base64');

async function problemOf(verified: Promise<unknown>): Promise<VerificationProblem | null> {
  try {
    await verified;
    return null;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.problem;
    throw error;
  }
}

describe('docs/vectors/webhook-signatures.json', () => {
  test.each(cases.map((vector) => [vector.name, vector] as const))('%s', async (_name, vector) => {
    const { headers, signing_keys: keys, now } = vector;
    expect(await problemOf(verifyWebhook(bodyOf(vector), headers, keys, now * 1_000))).toBe(vector.problem);
    // Fetch's headers hold no text beyond Latin-1, nor does any request.
    if (!Object.values(headers).every((value) => /^[\x20-\x7e]*$/.test(value))) return;
    expect(await problemOf(verifyWebhook(bodyOf(vector), new Headers(headers), keys, now * 1_000))).toBe(
      vector.problem,
    );
  });

  test('has what is accepted, and every problem', () => {
    expect(cases.filter(({ accepted }) => accepted).length).toBeGreaterThan(5);
    expect(cases.every(({ accepted, problem }) => accepted === (problem === null))).toBe(true);
    expect([...new Set(cases.flatMap(({ problem }) => problem ?? []))].sort()).toEqual([
      'body_unreadable',
      'event_id_differs',
      'header_missing',
      'key_unknown',
      'signature_wrong',
      'timestamp_malformed',
      'timestamp_out_of_tolerance',
    ]);
  });
});

test('an event is read as it was sent, from bytes, an ArrayBuffer and text', async () => {
  const { headers, signing_keys: keys, now, body = '' } = genuine;
  const expected = JSON.parse(body) as unknown;
  const bytes = new TextEncoder().encode(body);
  for (const raw of [bytes, Buffer.from(body), bytes.buffer, body]) {
    expect(await verifyWebhook(raw, headers, keys, now * 1_000)).toEqual(expected);
  }
});

test('a header that is there twice is refused', async () => {
  const { headers, signing_keys: keys, now, body = '' } = genuine;
  for (const [name, value] of Object.entries(headers)) {
    for (const twice of [
      { ...headers, [name]: [value, value] },
      { ...headers, [name.toLowerCase()]: value },
    ]) {
      expect([name, await problemOf(verifyWebhook(body, twice, keys, now * 1_000))]).toEqual([name, 'header_missing']);
    }
    const appended = new Headers(headers);
    appended.append(name, value);
    expect(await problemOf(verifyWebhook(body, appended, keys, now * 1_000))).not.toBeNull();
  }
});

test('without a time, the clock says what is recent', async () => {
  const { headers, signing_keys: keys, body = '' } = genuine;
  expect(await problemOf(verifyWebhook(body, headers, keys))).toBe('timestamp_out_of_tolerance');
});
