import {
  type Currency,
  currencyCodes,
  exchanges,
  FIAT_SOURCE,
  type Leg,
  ONE,
  type Rate,
  type RateRefusal,
  type RatesInForce,
  rateText,
  type SourceRate,
} from '@quittance/contracts/rates.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { dayDue } from './calendar.ts';
import type { KnownRates, Quote } from './rate.sql.ts';

/** A deployment's settings. */
export type RateRules = {
  /** How old a price of an exchange may be. */
  maxAgeSeconds: number;
  /** How far apart the exchanges may be, in percent of the lowest. */
  maxSpreadPercent: number;
};

/** A single exchange proves nothing. */
const EXCHANGES_MIN = 2;
/** A larger change within JUMP_MEMORY_MS needs every exchange that answered in that time. */
const JUMP_PERCENT = 20n;
const JUMP_MEMORY_MS = 86_400_000;

/** The price of one USDT, and the exchanges that agree on it; or why there is none. */
export type JudgedLeg = { scaled: bigint; quotes: readonly Quote[] } | { reason: RateRefusal };

/**
 * The price of one USDT in euros or dollars: the median of the exchanges that agree. More than half of the recent prices must be within the
 * spread of each other, so a single exchange can only move the price between two others that agree.
 */
export function judgeLeg(leg: Leg, { now, quotes, accepted }: KnownRates, rules: RateRules): JudgedLeg {
  const age = (quote: Quote) => now.getTime() - quote.as_of.getTime();
  const known = quotes.filter(
    (quote) =>
      quote.currency === leg && exchanges.some((name) => name === quote.source) && age(quote) <= JUMP_MEMORY_MS,
  );
  const recent = known.filter((quote) => age(quote) <= rules.maxAgeSeconds * 1_000);
  if (recent.length === 0 && known.length > 0) return { reason: 'too_old' };
  if (recent.length < EXCHANGES_MIN) return { reason: 'too_few' };
  const agreeing = agreementOf(recent, BigInt(rules.maxSpreadPercent));
  if (agreeing.length < EXCHANGES_MIN || agreeing.length * 2 <= recent.length) return { reason: 'too_far_apart' };
  const scaled = medianOf(agreeing);
  const last = accepted.get(leg);
  const isJump =
    last !== undefined && now.getTime() - last.at.getTime() <= JUMP_MEMORY_MS && jumps(last.scaled, scaled);
  if (isJump && agreeing.length < known.length) return { reason: 'jumped' };
  return { scaled, quotes: agreeing };
}

/** @returns the largest group whose highest value is at most `percent` above its lowest; of equal ones, the closest. */
function agreementOf(quotes: readonly Quote[], percent: bigint): Quote[] {
  const sorted = quotes.toSorted((a, b) => (a.scaled < b.scaled ? -1 : 1));
  const groups = sorted.map((lowest, start) => {
    const members = sorted.slice(start).filter(({ scaled }) => scaled * 100n <= lowest.scaled * (100n + percent));
    return { members, width: (members.at(-1)?.scaled ?? lowest.scaled) - lowest.scaled };
  });
  const [best] = groups.toSorted(
    (a, b) => b.members.length - a.members.length || (a.width < b.width ? -1 : a.width > b.width ? 1 : 0),
  );
  return best?.members ?? [];
}

/** @param sorted by value, not empty. */
function medianOf(sorted: readonly Quote[]): bigint {
  const middle = (at: number): bigint => sorted[at]?.scaled ?? 0n;
  return (middle(Math.floor((sorted.length - 1) / 2)) + middle(Math.floor(sorted.length / 2))) / 2n;
}

const jumps = (before: bigint, after: bigint): boolean => {
  const change = after > before ? after - before : before - after;
  return change * 100n > before * JUMP_PERCENT;
};

/** USDT for one unit of a currency, or why there is no rate. Dollars have their own price of USDT; all others go by way of the euro. */
export function rateOf(
  currency: Currency,
  known: KnownRates,
  rules: RateRules,
): { rate: Rate } | { reason: RateRefusal } {
  const leg = currency === 'USD' ? 'USD' : 'EUR';
  const token = judgeLeg(leg, known, rules);
  if ('reason' in token) return token;
  const fiat = leg === currency ? null : judgeFiat(currency, known);
  if (fiat !== null && 'reason' in fiat) return fiat;
  const oldest = Math.min(...token.quotes.map((quote) => quote.as_of.getTime()));
  const sources = [
    ...token.quotes.toSorted((a, b) => (a.source < b.source ? -1 : 1)),
    ...(fiat === null ? [] : [fiat]),
  ];
  return {
    rate: {
      value: rateText(ONE * ONE, token.scaled * (fiat?.scaled ?? ONE)),
      as_of: rfc3339(new Date(oldest)),
      sources: sources.map(shown),
    },
  };
}

const shown = ({ source, text, as_of: time }: Quote): SourceRate => ({
  name: source,
  value: text,
  as_of: rfc3339(time),
});

/**
 * The bank's reference rate of a currency. It is the only source, so a jump is confirmed by its next publication, which then differs little
 * from the one before.
 */
function judgeFiat(currency: Currency, { now, quotes }: KnownRates): Quote | { reason: RateRefusal } {
  const quote = quotes.find(({ source, currency: of }) => source === FIAT_SOURCE && of === currency);
  if (quote === undefined) return { reason: 'too_few' };
  if (quote.as_of.toISOString().slice(0, 10) < dayDue(now)) return { reason: 'too_old' };
  return quote.previous !== null && jumps(quote.previous, quote.scaled) ? { reason: 'jumped' } : quote;
}

/** The rates of all currencies. */
export function ratesInForce(known: KnownRates, rules: RateRules): RatesInForce {
  const judged = currencyCodes.map((currency) => ({ currency, ...rateOf(currency, known, rules) }));
  return {
    rates: judged.flatMap((one) => ('rate' in one ? [{ currency: one.currency, ...one.rate }] : [])),
    unavailable: judged.flatMap((one) => ('reason' in one ? [{ currency: one.currency, reason: one.reason }] : [])),
  };
}
