import { createHash } from 'node:crypto';
import type { Message } from 'amqplib';
import type { MessageDefinition } from '@quittance/contracts/messages.ts';
import { isSignedBy, type Signer, type Trust } from '@quittance/runtime/trust.ts';
import { headersOf, propertiesOf } from './amqp-message.ts';

/**
 * The header that proves who published a message. In base64url: a signature of 64 bytes, and the SHA-256 digests of the messages that it
 * covers. A digest covers name, version, id and body, so a message is not valid under another name.
 */
export const SIGNATURE_HEADER = 'signature';

/** A signature costs a hundred times as much as a digest, and each digest makes every message of its group 32 bytes longer. */
const GROUP_SIZE = 16;
const SIGNATURE_BYTES = 64;
const DIGEST_BYTES = 32;
/** So that nothing else signed with the same key can pass as a signature of messages. */
const DOMAIN = Buffer.from('quittance messages v1\n');
/** More than the number of groups whose messages arrive mixed with each other. */
const REMEMBERED_GROUPS = 256;

type Signed = { name: string; version: number; messageId: string; body: Buffer };

/** A message that was not published by the service that publishes its kind. Neither a retry nor a redrive can help. */
export class NotSigned extends Error {
  override readonly name = 'NotSigned';
}

/** @returns the header of each message, in their order. */
export function signMessages(signer: Signer, messages: readonly Signed[]): string[] {
  const digests = messages.map(digestOf);
  const headers: string[] = [];
  for (let start = 0; start < digests.length; start += GROUP_SIZE) {
    const group = digests.slice(start, start + GROUP_SIZE);
    const signature = signer(Buffer.concat([DOMAIN, ...group]));
    const header = Buffer.concat([signature, ...group]).toString('base64url');
    headers.push(...group.map(() => header));
  }
  return headers;
}

/**
 * @param acceptUnsigned is called for a message that is accepted although its publisher is not known.
 * @returns a function that throws NotSigned for a message that the publisher of its kind has not signed.
 */
export function createSignatureCheck(
  { publicKeys, sharedTokens }: Pick<Trust, 'publicKeys' | 'sharedTokens'>,
  { name, published_by: publisher }: Pick<MessageDefinition<unknown>, 'name' | 'published_by'>,
  acceptUnsigned: () => void = () => undefined,
): (message: Message) => void {
  const mayBeUnsigned = sharedTokens.length > 0;
  /** Headers with a valid signature, the oldest first. */
  const known = new Set<string>();

  function isRight(header: string): boolean {
    if (known.has(header)) return true;
    const bytes = Buffer.from(header, 'base64url');
    const [signature, digests] = [bytes.subarray(0, SIGNATURE_BYTES), bytes.subarray(SIGNATURE_BYTES)];
    if (!isSignedBy(publicKeys, publisher, Buffer.concat([DOMAIN, digests]), signature)) return false;
    known.add(header);
    const [oldest] = known;
    if (known.size > REMEMBERED_GROUPS && oldest !== undefined) known.delete(oldest);
    return true;
  }

  return (message) => {
    const { [SIGNATURE_HEADER]: header, version } = headersOf(message);
    // A process without any key cannot check signatures, and an older publisher does not sign.
    if (mayBeUnsigned && (header === undefined || publicKeys.size === 0)) {
      acceptUnsigned();
      return;
    }
    if (typeof header !== 'string') throw new NotSigned(`${name}: it is not signed`);
    const digest = digestOf({
      ...{ name, version: Number(version), body: message.content },
      messageId: String(propertiesOf(message)['messageId']),
    });
    if (!covers(header, digest) || !isRight(header)) throw new NotSigned(`${name}: ${publisher} did not sign it`);
  };
}

function covers(header: string, digest: Buffer): boolean {
  const bytes = Buffer.from(header, 'base64url');
  for (let start = SIGNATURE_BYTES; start + DIGEST_BYTES <= bytes.length; start += DIGEST_BYTES)
    if (digest.equals(bytes.subarray(start, start + DIGEST_BYTES))) return true;
  return false;
}

/** No name, version or id has a line break. */
const digestOf = ({ name, version, messageId, body }: Signed): Buffer =>
  createHash('sha256').update(`${name}\n${version}\n${messageId}\n`).update(body).digest();
