import { describe, expect, test } from '@jest/globals';
import type { Message } from 'amqplib';
import { sharedTrust, signingKeys, trustOf, type KeyHolder } from '@quittance/testkit/trust.ts';
import { createSignatureCheck, SIGNATURE_HEADER, signMessages } from '../src/broker/signature.ts';

const TransferObserved = { name: 'TransferObserved', published_by: 'chain-watcher' } as const;
const signed = (index: number) => ({
  ...{ name: 'TransferObserved', version: 1, messageId: `id-${index}` },
  body: Buffer.from(`{"transfer":${index}}`),
});
type Signed = ReturnType<typeof signed>;

/** As it arrives. */
const arrived = ({ version, messageId, body }: Signed, signature?: unknown): Message =>
  ({
    content: body,
    properties: { messageId, headers: { version, ...(signature !== undefined && { [SIGNATURE_HEADER]: signature }) } },
  }) as unknown as Message;

const signerOf = (name: KeyHolder) => trustOf(name).signer!;
const headersOf = (messages: Signed[], name: KeyHolder = 'chain-watcher') => signMessages(signerOf(name), messages);
const check = createSignatureCheck(trustOf('payments'), TransferObserved);

describe('a message is accepted', () => {
  test.each([1, 2, 15, 16, 17, 40])('when its publisher has signed it, with %i at once', (count) => {
    const messages = Array.from({ length: count }, (_, index) => signed(index));
    const headers = headersOf(messages);
    expect(headers).toHaveLength(count);
    for (const [index, message] of messages.entries())
      expect(() => check(arrived(message, headers[index]))).not.toThrow();
    // One signature of 64 bytes for 16 digests of 32.
    expect(Math.max(...headers.map((header) => Buffer.from(header, 'base64url').length))).toBe(
      64 + 32 * Math.min(count, 16),
    );
  });

  test('however many other messages have come since the first of its group', () => {
    const messages = Array.from({ length: 16 * 300 }, (_, index) => signed(index));
    const headers = headersOf(messages);
    const late = messages.length - 1;
    for (const [index, message] of messages.entries()) check(arrived(message, headers[index]));
    expect(() => check(arrived(messages[0]!, headers[0]))).not.toThrow();
    expect(() => check(arrived(messages[late]!, headers[late]))).not.toThrow();
  });
});

describe('a message is refused', () => {
  const message = signed(1);
  const [header] = headersOf([message, signed(2)]);

  test.each<[string, Message]>([
    ['that is not signed', arrived(message)],
    ['with an empty signature', arrived(message, '')],
    ['with a signature that is not text', arrived(message, 7)],
    ['with a signature of nothing', arrived(message, Buffer.alloc(64).toString('base64url'))],
    ['with another body', arrived({ ...message, body: Buffer.from('{"transfer":3}') }, header)],
    ['with another id', arrived({ ...message, messageId: 'id-3' }, header)],
    ['with another version', arrived({ ...message, version: 2 }, header)],
    ['with a signature of other messages', arrived(message, headersOf([signed(3)])[0])],
    ['whose digest was added to the signed ones', arrived(message, withDigestOf(message))],
  ])('%s', (_what, given) => {
    expect(() => check(given)).toThrow('TransferObserved: ');
  });

  test.each(Object.keys(signingKeys).filter((name) => name !== 'chain-watcher') as KeyHolder[])(
    'that %s has signed in place of its publisher',
    (name) => {
      expect(() => check(arrived(message, headersOf([message], name)[0]))).toThrow('chain-watcher did not sign it');
    },
  );

  test('that arrives under another name', () => {
    const asPaid = createSignatureCheck(trustOf('payments'), { name: 'PaymentPaid', published_by: 'chain-watcher' });
    expect(() => asPaid(arrived(message, header))).toThrow('PaymentPaid: chain-watcher did not sign it');
  });

  test('after a valid one with the same header', () => {
    check(arrived(message, header));
    expect(() => check(arrived({ ...message, body: Buffer.from('{}') }, header))).toThrow('did not sign it');
  });
});

describe('while an installation without keys is upgraded', () => {
  const message = signed(1);
  const [right] = headersOf([message]);
  const [wrong] = headersOf([message], 'quota');
  const { sharedTokens } = sharedTrust();

  test('a process without keys accepts everything', () => {
    const asBefore = createSignatureCheck(sharedTrust(), TransferObserved);
    for (const header of [undefined, right, wrong]) expect(() => asBefore(arrived(message, header))).not.toThrow();
  });

  test('one with keys accepts unsigned messages, but not those that another service signed', () => {
    const between = createSignatureCheck({ ...trustOf('payments'), sharedTokens }, TransferObserved);
    for (const header of [undefined, right]) expect(() => between(arrived(message, header))).not.toThrow();
    expect(() => between(arrived(message, wrong))).toThrow('did not sign it');
  });
});

/** The group of another message, with the digest of this one added to it. */
function withDigestOf(message: Signed): string {
  const [genuine = ''] = headersOf([signed(3)]);
  const [own = ''] = headersOf([message], 'quota');
  return Buffer.concat([Buffer.from(genuine, 'base64url'), Buffer.from(own, 'base64url').subarray(64)]).toString(
    'base64url',
  );
}
