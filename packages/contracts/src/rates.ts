import { AMOUNT_DECIMALS, MAX_AMOUNT_UNITS } from './amount.ts';

/*
 * Prices in other money, and the rates that convert them. All arithmetic is on integers: a decimal text is its digits and the number of
 * its decimals.
 */

/**
 * The currencies of prices with the decimals that ISO 4217 gives them: the euro, and those for which the European Central Bank publishes
 * reference rates. Source: ecb.europa.eu, "Euro foreign exchange reference rates", 2026.
 */
export const currencies = {
  AUD: 2,
  BRL: 2,
  CAD: 2,
  CHF: 2,
  CNY: 2,
  CZK: 2,
  DKK: 2,
  EUR: 2,
  GBP: 2,
  HKD: 2,
  HUF: 2,
  IDR: 2,
  ILS: 2,
  INR: 2,
  ISK: 0,
  JPY: 0,
  KRW: 0,
  MXN: 2,
  MYR: 2,
  NOK: 2,
  NZD: 2,
  PHP: 2,
  PLN: 2,
  RON: 2,
  SEK: 2,
  SGD: 2,
  THB: 2,
  TRY: 2,
  USD: 2,
  ZAR: 2,
} as const;

export type Currency = keyof typeof currencies;
export const currencyCodes = Object.keys(currencies) as Currency[];
export const isCurrency = (text: string): text is Currency => Object.hasOwn(currencies, text);

/** Currencies in which exchanges trade USDT: the price of one USDT is their token leg. */
export const legs = ['EUR', 'USD'] as const;
export type Leg = (typeof legs)[number];

/** USDT in euros or dollars. */
export const exchanges = ['bitstamp', 'coinbase', 'kraken'] as const;
/** The European Central Bank: other currencies for one euro. */
export const FIAT_SOURCE = 'ecb';
export const rateSources = [...exchanges, FIAT_SOURCE] as const;
export type RateSource = (typeof rateSources)[number];

/** At most nine digits before the point and twelve after it, so that no product of three needs more than 64 digits. */
export const RATE_PATTERN = '^(0|[1-9][0-9]{0,8})(\\.[0-9]{1,12})?$';
const ratePattern = new RegExp(RATE_PATTERN);

/** Decimals of `scaled` rates. */
const SCALE = 18;
export const ONE = 10n ** BigInt(SCALE);

/** Parses a rate as an integer with 18 decimals. @returns null for a text that is not one, and for zero. */
export function parseRate(text: string): bigint | null {
  if (!ratePattern.test(text)) return null;
  const [whole = '0', fraction = ''] = text.split('.');
  const scaled = BigInt(whole + fraction.padEnd(SCALE, '0'));
  return scaled > 0n ? scaled : null;
}

/** A shown rate has this many digits, from its first one that is not zero: it is exact to a few millionths. */
const SIGNIFICANT_DIGITS = 6;
/** The most decimals of RATE_PATTERN. */
const RATE_DECIMALS = 12;

/**
 * Rounds a rate half up to six significant digits, and at most twelve decimals.
 * @param numerator over `denominator`; both positive.
 * @returns decimal text without trailing zeros.
 */
export function rateText(numerator: bigint, denominator: bigint): string {
  const scaled = (numerator * ONE) / denominator;
  const unwanted = Math.max(scaled.toString().length - SIGNIFICANT_DIGITS, SCALE - RATE_DECIMALS);
  const step = 10n ** BigInt(unwanted);
  const rounded = ((scaled + step / 2n) / step) * step;
  const digits = rounded.toString().padStart(SCALE + 1, '0');
  const fraction = digits.slice(-SCALE).replace(/0+$/, '');
  const whole = digits.slice(0, -SCALE);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** A price in a currency other than USDT. */
export type Price = {
  /** Decimal text as the merchant sent it. */
  amount: string;
  currency: string;
};

/** Why a price is refused; null for a valid one. */
export function priceProblem({ amount, currency, ...others }: Record<string, unknown>): string | null {
  if (Object.keys(others).length > 0) return 'must have the fields amount and currency, and no others';
  if (typeof currency !== 'string' || !isCurrency(currency))
    return `must have a currency that is one of ${currencyCodes.join(', ')}`;
  const decimals = currencies[currency];
  const pattern = decimals === 0 ? /^[1-9]\d{0,11}$/ : new RegExp(`^(0|[1-9]\\d{0,11})(\\.\\d{1,${decimals}})?$`);
  if (typeof amount === 'string' && pattern.test(amount) && /[1-9]/.test(amount)) return null;
  const digits = decimals === 0 ? 'and no point' : `and ${decimals} after it`;
  return `must have an amount above zero as decimal text, with at most 12 digits before the point ${digits} for ${currency}`;
}

const UNITS_OF_A_CENT = 10n ** BigInt(AMOUNT_DECIMALS - 2);

/**
 * Converts a price to USDT, rounded up to cents.
 * @param rate USDT for one unit of the price's currency, decimal text.
 * @returns millionths of a USDT; null when a payment cannot have that amount.
 */
export function amountOf({ amount }: Price, rate: string): bigint | null {
  const scaled = parseRate(rate);
  if (scaled === null) return null;
  const [whole = '0', fraction = ''] = amount.split('.');
  const price = BigInt(whole + fraction);
  const centsDivisor = ONE * 10n ** BigInt(fraction.length);
  const cents = (price * scaled * 100n + centsDivisor - 1n) / centsDivisor;
  const units = cents * UNITS_OF_A_CENT;
  return units > 0n && units <= MAX_AMOUNT_UNITS ? units : null;
}

/** What one source says: of an exchange, how much of the leg's currency one USDT costs; of the bank, how much of a currency one euro costs. */
export type SourceRate = { name: string; value: string; as_of: string };

/** The rate by which a price was converted, or would be now. */
export type Rate = {
  /** USDT for one unit of the currency, decimal text. */
  value: string;
  /** Of the oldest price of an exchange that it is made of, RFC 3339. */
  as_of: string;
  sources: SourceRate[];
};

/** Why there is no rate: nothing is recent, fewer than two exchanges are, they disagree, or the rate has jumped and not all confirm it. */
export const rateRefusals = ['too_old', 'too_few', 'too_far_apart', 'jumped'] as const;
export type RateRefusal = (typeof rateRefusals)[number];

/** The rates in force, by currency, and why others are not. */
export type RatesInForce = {
  rates: ({ currency: string } & Rate)[];
  unavailable: { currency: string; reason: RateRefusal }[];
};
