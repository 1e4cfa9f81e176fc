import { createHash } from 'node:crypto';

/** The most wallets that are watched, in memory and in the database. Wallets from this number on are never watched. */
export const WATCHED_WALLETS = 1_000_000;

/** The one wallet that payments wait for at providers, by its number. */
export const PAYEE = 7;

/** The wallet of this number, from 0: 0x and 40 lowercase hex characters. */
export function walletAddress(number: number): string {
  return `0x${createHash('sha256').update(`wallet ${number}`).digest('hex').slice(0, 40)}`;
}

/** The same addresses as an expression of SQL, for a column `number`. */
export const walletAddressSql = `substring(sha256(convert_to('wallet ' || number, 'UTF8')) for 20)`;
