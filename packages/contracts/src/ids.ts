import { hash, randomBytes } from 'node:crypto';

export type IdPrefix = 'pay' | 'mer' | 'evt' | 'whk';
export type SecretPrefix = 'qk' | 'qr' | 'qo' | 'qm' | 'qs' | 'ql';

/**
 * A new public id: the prefix, an underscore and 32 lowercase hex characters. The hex characters are a UUIDv7 (RFC
 * 9562): later ids sort later, which keeps index pages local.
 */
export function newId(prefix: IdPrefix, now: Date = new Date()): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return `${prefix}_${bytes.toString('hex')}`;
}

/** A text that sorts before every id created from this time on, by the clock of the creating process. */
export const earliestId = (prefix: IdPrefix, time: Date): string =>
  `${prefix}_${time.getTime().toString(16).padStart(12, '0')}`;

/** Whether the text has the format of such an id. It doesn't check that the object exists. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.length === prefix.length + 33 && text.startsWith(`${prefix}_`) && /^[0-9a-f]{32}$/.test(text.slice(-32));
}

/**
 * Parses a transaction id as a person writes it: explorers show it with 0x, our own answers without.
 * @returns 64 lowercase hex characters, or null for a text that is not one.
 */
export const parseTransactionId = (text: string): string | null =>
  /^(?:0x)?([0-9a-f]{64})$/i.exec(text)?.[1]?.toLowerCase() ?? null;

/** Like parseTransactionId(), for a text that contains the id, such as the URL of an explorer's page. */
export const findTransactionId = (text: string): string | null =>
  /(?:^|0x|[^0-9a-f])([0-9a-f]{64})(?![0-9a-f])/i.exec(text)?.[1]?.toLowerCase() ?? null;

/**
 * A new credential: `qk` API key, `qr` rotation secret, `qo` operator's credential, `qm` credential of a merchant's
 * person, `qs` console session, `ql` sign-in link. 256 random bits in base64url.
 */
export function newSecret(prefix: SecretPrefix): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/**
 * A new webhook signing key: `whsec_` and 256 random bits in standard base64, as Standard Webhooks libraries decode it. Keys issued by
 * 0.2.0 and earlier are in base64url without padding, and stay valid.
 */
export function newWebhookKey(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** The last segment of a payment_url: 256 random bits in base64url, 43 characters, unrelated to the payment's id. */
export function newPublicToken(): string {
  return randomBytes(32).toString('base64url');
}

/** 32 bytes. Credentials and public tokens are looked up by this, so that no index contains one in plain text. */
export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
