import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import {
  verifyWebhook,
  WebhookConfigurationError,
  WebhookVerificationError,
  type SigningKeys,
  type VerificationProblem,
} from '../src/webhook.ts';

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
    // Fetch's headers cannot contain text beyond Latin-1, nor can any request.
    if (!Object.values(headers).every((value) => /^[\x20-\x7e]*$/.test(value))) return;
    expect(await problemOf(verifyWebhook(bodyOf(vector), new Headers(headers), keys, now * 1_000))).toBe(
      vector.problem,
    );
  });

  test('has an accepted request, and every problem', () => {
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

test('a header that occurs twice is refused', async () => {
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

test('without a given time, the clock decides what is recent', async () => {
  const { headers, signing_keys: keys, body = '' } = genuine;
  expect(await problemOf(verifyWebhook(body, headers, keys))).toBe('timestamp_out_of_tolerance');
});

/** The genuine request, signed with another key. */
function signedBy(key: string) {
  const { headers, now, body = '' } = genuine;
  const hex = createHmac('sha256', key).update(`${now}.${body}`).digest('hex');
  return { body, headers: { ...headers, 'X-Service-Signature': `v1=${hex}` }, now: now * 1_000 };
}
const [[keyId, rightKey]] = Object.entries(genuine.signing_keys) as [[string, string]];

/** With the text that HMAC would use as the key. */
const keysOfNobody: [string, unknown, string][] = [
  ['an empty text', '', ''],
  ['null', null, 'null'],
  ['undefined', undefined, ''],
  ['a number', 7, '7'],
  ['an array', [rightKey], rightKey],
  ['another credential', `qk_${'a'.repeat(43)}`, `qk_${'a'.repeat(43)}`],
  ['only the prefix', 'whsec_', 'whsec_'],
  ['a key without its last character', rightKey.slice(0, -1), rightKey.slice(0, -1)],
  ['a key with a line break', `${rightKey}\n`, `${rightKey}\n`],
];

test.each(keysOfNobody)('%s as a key is a configuration error, whatever the signature', async (_name, key, text) => {
  const { body, headers, now } = signedBy(text);
  const alone = { [keyId]: key } as SigningKeys;
  await expect(verifyWebhook(body, headers, alone, now)).rejects.toThrow(WebhookConfigurationError);
  // Also together with a right one that signed, whose id it might be.
  const genuinely = signedBy(rightKey);
  const beside = { [keyId]: rightKey, whk_2: key } as SigningKeys;
  await expect(verifyWebhook(body, genuinely.headers, beside, now)).rejects.toThrow(WebhookConfigurationError);
});

test.each([[{}], [null], [undefined], [[rightKey]], [new Map([[keyId, rightKey]])], [rightKey]])(
  'keys of another format are a configuration error, which shows no key: %p',
  async (keys) => {
    const { body, headers, now } = signedBy(rightKey);
    const error: unknown = await verifyWebhook(body, headers, keys as unknown as SigningKeys, now).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(WebhookConfigurationError);
    expect(String(error)).not.toContain(rightKey.slice(6));
  },
);

test('a key that was swapped with its id is not shown', async () => {
  const { body, headers, now } = signedBy(rightKey);
  const verified = verifyWebhook(body, headers, { [rightKey]: keyId }, now);
  await expect(verified).rejects.toThrow(WebhookConfigurationError);
  await expect(verified).rejects.not.toThrow(rightKey);
});

test('every format in which keys were ever issued is accepted', async () => {
  const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - index));
  for (const encoding of ['base64url', 'base64'] as const) {
    const key = `whsec_${bytes.toString(encoding)}`;
    const { body, headers, now } = signedBy(key);
    expect(await problemOf(verifyWebhook(body, headers, { [keyId]: key }, now))).toBeNull();
  }
});

test.each([Number.NaN, Infinity, -Infinity, null, '', String(genuine.now * 1_000), {}])(
  'a clock that is not a number is a configuration error: %p',
  async (now) => {
    const { headers, signing_keys: keys, body = '' } = genuine;
    const verified = verifyWebhook(body, headers, keys, now as number);
    await expect(verified).rejects.toThrow(WebhookConfigurationError);
  },
);
