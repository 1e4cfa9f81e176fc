import type { RatesObserved } from '@quittance/contracts/messages.ts';
import {
  exchanges,
  FIAT_SOURCE,
  isCurrency,
  type Leg,
  ONE,
  parseRate,
  type RateSource,
} from '@quittance/contracts/rates.ts';

/*
 * What exchanges and the European Central Bank publish for anyone, without a key. The shapes of the answers are those of their public
 * documentation; they were not recorded.
 */

export type Quote = RatesObserved['quotes'][number];

/** A source with its address. */
export type ConfiguredSource = { name: RateSource; baseUrl: string };

/** Not an answer that the source documents, or not a possible value. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';
}

/** One request to a source, and what its answer says. @param readAt when it was read. */
type Request = { path: string; quotes: (text: string, readAt: Date) => Quote[] };

type Adapter = { baseUrl: string; everyMs: number; requests: readonly Request[] };

const EXCHANGE_INTERVAL_MS = 30_000;
/** The bank publishes once a day. */
const BANK_INTERVAL_MS = 600_000;

/** The price of one USDT. Anything else is an error of the source, even if the token loses its peg. */
const tokenBounds = { least: ONE / 5n, most: 5n * ONE };
/** A unit of a currency for one euro: from a thousandth of the strongest to sixty times the weakest. */
const fiatBounds = { least: ONE / 1_000n, most: 1_000_000n * ONE };

export const adapters: Record<RateSource, Adapter> = {
  /** docs.kraken.com, "Get Ticker Information": `c` is the last trade, price first. It has no time. */
  kraken: {
    baseUrl: 'https://api.kraken.com',
    everyMs: EXCHANGE_INTERVAL_MS,
    requests: [
      {
        path: '/0/public/Ticker?pair=USDTZUSD,USDTEUR',
        quotes: (text, readAt) => {
          const answer = objectOf(text);
          const result = field(answer, 'result');
          const priceOf = (pair: string, leg: Leg) => {
            const [price] = arrayOf(field(field(result, pair), 'c'));
            return tokenQuote('kraken', leg, price, readAt);
          };
          return [priceOf('USDTZUSD', 'USD'), priceOf('USDTEUR', 'EUR')];
        },
      },
    ],
  },
  /** docs.cdp.coinbase.com, Exchange API, "Get product ticker": the last trade. Without trades for a while, its time is old. */
  coinbase: {
    baseUrl: 'https://api.exchange.coinbase.com',
    everyMs: EXCHANGE_INTERVAL_MS,
    requests: (['USD', 'EUR'] as const).map((leg) => ({
      path: `/products/USDT-${leg}/ticker`,
      quotes: (text, readAt) => {
        const answer = objectOf(text);
        const at = new Date(String(field(answer, 'time')));
        return [tokenQuote('coinbase', leg, field(answer, 'price'), earlier(at, readAt))];
      },
    })),
  },
  /** bitstamp.net/api, "Ticker": the last price and a UNIX time in seconds. */
  bitstamp: {
    baseUrl: 'https://www.bitstamp.net',
    everyMs: EXCHANGE_INTERVAL_MS,
    requests: (['USD', 'EUR'] as const).map((leg) => ({
      path: `/api/v2/ticker/usdt${leg.toLowerCase()}/`,
      quotes: (text, readAt) => {
        const answer = objectOf(text);
        const at = new Date(Number(field(answer, 'timestamp')) * 1_000);
        return [tokenQuote('bitstamp', leg, field(answer, 'last'), earlier(at, readAt))];
      },
    })),
  },
  /** ecb.europa.eu, "Euro foreign exchange reference rates", the XML file of the last day. */
  ecb: {
    baseUrl: 'https://www.ecb.europa.eu',
    everyMs: BANK_INTERVAL_MS,
    requests: [{ path: '/stats/eurofxref/eurofxref-daily.xml', quotes: bankQuotes }],
  },
};

function objectOf(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UnusableAnswer('the answer is not JSON');
  }
  if (typeof value !== 'object' || value === null) throw new UnusableAnswer('the answer is not an object');
  return value as Record<string, unknown>;
}

function field(value: unknown, name: string): unknown {
  const found = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  if (!found) throw new UnusableAnswer(`the answer has no ${name}`);
  return (value as Record<string, unknown>)[name];
}

const arrayOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** A source's clock may be ahead of ours. @throws UnusableAnswer for no time. */
function earlier(said: Date, readAt: Date): Date {
  if (Number.isNaN(said.getTime())) throw new UnusableAnswer('the answer has no time');
  return said < readAt ? said : readAt;
}

const tokenQuote = (source: RateSource, leg: Leg, value: unknown, at: Date): Quote => ({
  source,
  currency: leg,
  value: boundedRate(value, tokenBounds),
  as_of: at.toISOString(),
});

/** @throws UnusableAnswer for what is no number, and for an impossible one. */
function boundedRate(value: unknown, { least, most }: { least: bigint; most: bigint }): string {
  const scaled = typeof value === 'string' ? parseRate(value) : null;
  if (scaled === null) throw new UnusableAnswer('the answer has no number where its value should be');
  if (scaled < least || scaled > most) throw new UnusableAnswer('the value is outside its bounds');
  return String(value);
}

/** The rates stand at 14:15 Central European Time; this is a time after that, and before they are published. */
const BANK_TIME = 'T14:00:00.000Z';

/**
 * Two attributes of elements without content are all that is needed of the file, so a pattern reads it.
 * Currencies that prices don't have are left out.
 */
function bankQuotes(text: string, readAt: Date): Quote[] {
  const day = /<Cube\s+time=["'](\d{4}-\d\d-\d\d)["']\s*>/.exec(text)?.[1];
  if (day === undefined) throw new UnusableAnswer('the answer has no day');
  const at = earlier(new Date(`${day}${BANK_TIME}`), readAt);
  const rates = [...text.matchAll(/<Cube\s+currency=["']([A-Z]{3})["']\s+rate=["']([\d.]{1,22})["']\s*\/>/g)];
  const quotes = rates
    .filter(([, currency = '']) => isCurrency(currency))
    .map(([, currency = '', value]): Quote => ({
      ...{ source: FIAT_SOURCE, currency, as_of: at.toISOString() },
      value: boundedRate(value, fiatBounds),
    }));
  if (quotes.length === 0) throw new UnusableAnswer('the answer has no rates');
  return [...new Map(quotes.map((quote) => [quote.currency, quote])).values()];
}

/**
 * Parses RATE_SOURCES: names, separated by commas. For a rehearsal a name may have another address, `kraken=http://127.0.0.1:9500`: HTTPS,
 * or HTTP on this machine.
 * @throws Error that says what is wrong.
 */
export function parseSources(text: string): ConfiguredSource[] {
  const sources = text.split(',').map((item): ConfiguredSource => {
    const [name = '', baseUrl] = item.trim().split('=', 2);
    const known = Object.hasOwn(adapters, name) ? (name as RateSource) : null;
    if (known === null) throw new Error(`must have names out of ${Object.keys(adapters).join(', ')}`);
    return { name: known, baseUrl: baseUrl === undefined ? adapters[known].baseUrl : addressOf(baseUrl) };
  });
  if (new Set(sources.map(({ name }) => name)).size < sources.length) throw new Error('must not repeat a name');
  if (sources.filter(({ name }) => exchanges.some((exchange) => exchange === name)).length < 2)
    throw new Error(`must have at least two of ${exchanges.join(', ')}`);
  return sources;
}

const loopbackHosts = ['127.0.0.1', '[::1]', 'localhost'];

function addressOf(text: string): string {
  const url = URL.parse(text);
  const isLocal = url?.protocol === 'http:' && loopbackHosts.includes(url.hostname);
  if (url === null || !(url.protocol === 'https:' || isLocal) || url.username !== '' || url.search !== '')
    throw new Error('must have addresses with https, or with http on this machine, and nothing behind their path');
  return text.replace(/\/+$/, '');
}
