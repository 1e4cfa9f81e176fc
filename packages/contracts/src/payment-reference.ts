import { newId } from './ids.ts';

/** Crockford's base 32: no I, L, O or U, so that no two characters of a reference look or sound alike. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const CHARACTERS = 8;
/** As many hexadecimal digits of the payment's id as eight characters can say; they are random. */
const HEX_DIGITS = 10;

/** With digits between letters a reference is no number (00123456, 12E45678; 0X71519E is one) and no date (1MAR2026), in any language. */
const staysText = /^(?!0X).*[A-Z]\d+[A-Z]/;

/** Five of six ids will do, so that this many in a row never fail. */
const TRIES = 64;

/**
 * A new payment's id, with a reference that spreadsheets keep as it is. Of the payments that were made before this, one in 7,000 has a
 * reference that they turn into a number.
 */
export function newPaymentId(now: Date = new Date()): string {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const id = newId('pay', now);
    if (staysText.test(referenceOf(id))) return id;
  }
  throw new Error('the random numbers of this process are not random');
}

/** What a customer reads out to the shop to name a payment: 8 characters, made from the end of its id, so that no column holds it. */
export function referenceOf(paymentId: string): string {
  const bits = BigInt(`0x${paymentId.slice(-HEX_DIGITS)}`);
  return Array.from({ length: CHARACTERS }, (_, position) => {
    const shift = 5n * BigInt(CHARACTERS - 1 - position);
    return ALPHABET.charAt(Number((bits >> shift) & 31n));
  }).join('');
}

/**
 * Reads a reference as people write it: in either case, with I or L for 1 and O for 0.
 * @returns the last 10 hexadecimal digits of the id of each payment that has it; null when the text is no reference.
 */
export function parseReference(text: string): string | null {
  const written = text.toUpperCase().replaceAll(/[IL]/g, '1').replaceAll('O', '0');
  const digits = Array.from(written, (character) => ALPHABET.indexOf(character));
  if (digits.length !== CHARACTERS || digits.includes(-1)) return null;
  const bits = digits.reduce((read, digit) => (read << 5n) | BigInt(digit), 0n);
  return bits.toString(16).padStart(HEX_DIGITS, '0');
}
