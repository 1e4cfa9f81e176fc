import { hash, randomBytes } from 'node:crypto';

export type IdPrefix = 'pay' | 'mer' | 'evt' | 'whk';
export type SecretPrefix = 'qk' | 'qr' | 'qo' | 'qm' | 'qs' | 'ql' | 'whsec';

/**
 * A new public id: the prefix, an underscore and 32 lowercase hex characters.
 * Underneath it is a UUIDv7 (RFC 9562): ids made later sort later, which keeps index pages local.
 */
export function newId(prefix: IdPrefix, now: Date = new Date()): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return `${prefix}_${bytes.toString('hex')}`;
}

/** What sorts before every id that is made from this time on, by the clock of the process that makes it. */
export const earliestId = (prefix: IdPrefix, time: Date): string =>
  `${prefix}_${time.getTime().toString(16).padStart(12, '0')}`;

/** Whether the text has the form of such an id. It says nothing about whether the thing exists. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.length === prefix.length + 33 && text.startsWith(`${prefix}_`) && /^[0-9a-f]{32}$/.test(text.slice(-32));
}

/**
 * Reads a transaction's id as a person writes it: explorers show it with 0x, our own answers without.
 * @returns 64 lowercase hex characters, or null for a text that is none.
 */
export const parseTransactionId = (text: string): string | null =>
  /^(?:0x)?([0-9a-f]{64})$/i.exec(text)?.[1]?.toLowerCase() ?? null;

/** As parseTransactionId(), in a text that has the id somewhere, such as the address of an explorer's page. */
export const findTransactionId = (text: string): string | null =>
  /(?:^|0x|[^0-9a-f])([0-9a-f]{64})(?![0-9a-f])/i.exec(text)?.[1]?.toLowerCase() ?? null;

/** A new credential: `qk` API key, `qr` rotation secret, `qo` an operator's, `qm` of a merchant's person, `qs` of a session at the console, `whsec` webhook signing key; 256 random bits in base64url. */
export function newSecret(prefix: SecretPrefix): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/** The last segment of a payment_url: 256 random bits in base64url, 43 characters, unrelated to the payment's id. */
export function newPublicToken(): string {
  return randomBytes(32).toString('base64url');
}

/** 32 bytes. Credentials and public tokens are looked up by this, so that no index holds one in clear. */
export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
