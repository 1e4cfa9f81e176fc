/**
 * Decimals of `amount` and of `amount_units` in payments. A unit is a millionth of a USDT, whatever the token's
 * decimals on chain.
 */
export const AMOUNT_DECIMALS = 6;

/**
 * At most 12 digits before the point and 6 after it, no sign, no exponent, no leading zeros. Source: the API contract.
 */
export const AMOUNT_PATTERN = '^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,6})?$';

const amountPattern = new RegExp(AMOUNT_PATTERN);

/** The largest amount of that pattern, in millionths. It fits a signed 64-bit integer. */
export const MAX_AMOUNT_UNITS = 10n ** 18n - 1n;

/**
 * Parses a merchant's decimal text as whole millionths of a USDT.
 * @returns null when the text is not an amount, or not greater than zero.
 */
export function parseAmount(text: string): bigint | null {
  if (!amountPattern.test(text)) return null;
  const [whole = '0', fraction = ''] = text.split('.');
  const units = BigInt(whole + fraction.padEnd(AMOUNT_DECIMALS, '0'));
  return units > 0n ? units : null;
}

/**
 * Converts millionths of a USDT to base units of a token with that many decimals (6 on Ethereum and Tron, 18 on BNB
 * Chain).
 * @throws RangeError for a token with fewer than 6 decimals, in which some amounts could not be paid.
 */
export function toTokenUnits(amountUnits: bigint, decimals: number): bigint {
  if (decimals < AMOUNT_DECIMALS) throw new RangeError(`a token with ${decimals} decimals cannot carry every amount`);
  return amountUnits * 10n ** BigInt(decimals - AMOUNT_DECIMALS);
}

/** Writes base units as decimal text without trailing zeros: (10500000n, 6) → "10.5". */
export function formatUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
