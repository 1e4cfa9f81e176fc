import { newId } from './ids.ts';

/** Crockford's base 32: no I, L, O or U, so that no two characters of a reference look or sound alike. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const CHARACTERS = 8;
/** How many hexadecimal digits of the payment's id fit in eight characters; they are random. */
const HEX_DIGITS = 10;

/**
 * With a digit between letters a reference is neither a number (00123456, 12E45678; 0X71519E is one) nor a date
 * (1MAR2026), in any language.
 */
const staysText = /^(?!0X).*[A-Z]\d+[A-Z]/;

/** Five of six ids are suitable, so that this many tries never fail in a row. */
const TRIES = 64;

/**
 * A new payment's id, whose reference spreadsheets leave unchanged. Of the payments created before this rule, one in
 * 7,000 has a reference that they turn into a number.
 */
export function newPaymentId(now: Date = new Date()): string {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const id = newId('pay', now);
    if (staysText.test(referenceOf(id))) return id;
  }
  throw new Error('the random numbers of this process are not random');
}

/**
 * The reference that a customer tells the shop to name a payment: 8 characters, computed from the end of its id, so
 * that it needs no column.
 */
export function referenceOf(paymentId: string): string {
  const bits = BigInt(`0x${paymentId.slice(-HEX_DIGITS)}`);
  return Array.from({ length: CHARACTERS }, (_, position) => {
    const shift = 5n * BigInt(CHARACTERS - 1 - position);
    return ALPHABET.charAt(Number((bits >> shift) & 31n));
  }).join('');
}

/**
 * Parses a reference as people write it: in either case, with I or L for 1 and O for 0.
 * @returns the last 10 hexadecimal digits of the id of each payment with this reference; null when the text is not a
 *   reference.
 */
export function parseReference(text: string): string | null {
  const written = text.toUpperCase().replaceAll(/[IL]/g, '1').replaceAll('O', '0');
  const digits = Array.from(written, (character) => ALPHABET.indexOf(character));
  if (digits.length !== CHARACTERS || digits.includes(-1)) return null;
  const bits = digits.reduce((read, digit) => (read << 5n) | BigInt(digit), 0n);
  return bits.toString(16).padStart(HEX_DIGITS, '0');
}
