import type { RatesObserved } from '@quittance/contracts/messages.ts';
import type { Conversion, Model, ModelRate } from './state.ts';
import { timestamp } from './steps.ts';

/* Prices in euros. The three exchanges always agree, so only the age of what they say decides whether there is a rate. */

/** By turns: what one USDT costs in euros, and its inverse, which is the rate. */
const said = [
  { euros: '0.5', value: '2', tenths: 20n },
  { euros: '0.625', value: '1.6', tenths: 16n },
] as const;

/** How long a price of an exchange counts. */
const KEPT = 300_000;
/** How often the exchanges are read. */
const EVERY = 60_000;

/** What the exchanges say now; null when they were read a moment ago. */
export function nextRate({ now, rate }: Model): ModelRate | null {
  if (rate !== null && now - rate.at < EVERY) return null;
  return { at: now, turn: rate?.turn === 0 ? 1 : 0 };
}

const exchanges = ['bitstamp', 'coinbase', 'kraken'] as const;

/** The message with what the exchanges say. */
export const observed = ({ at, turn }: ModelRate): RatesObserved => ({
  observed_at: timestamp(at),
  quotes: exchanges.map((source) => ({
    ...{ source, currency: 'EUR', value: said[turn].euros, as_of: timestamp(at) },
  })),
});

/** @param euros decimal text with at most two decimals. @returns null while there is no rate. */
export function convert({ now, rate }: Model, euros: string): Conversion | null {
  if (rate === null || now - rate.at > KEPT) return null;
  const { value, tenths, euros: quoted } = said[rate.turn];
  const [whole = '', fraction = ''] = euros.split('.');
  // A tenth of a cent that is begun is a cent.
  const cents = (BigInt(whole + fraction.padEnd(2, '0')) * tenths + 9n) / 10n;
  const as_of = timestamp(rate.at);
  return {
    amount: `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`,
    price: { amount: euros, currency: 'EUR' },
    rate: { value, as_of, sources: exchanges.map((name) => ({ name, value: quoted, as_of })) },
  };
}
