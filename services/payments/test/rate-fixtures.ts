import type { RatesObserved } from '@quittance/contracts/messages.ts';
import { exchanges } from '@quittance/contracts/rates.ts';
import { dayDue } from '../src/rates/calendar.ts';

type Quote = RatesObserved['quotes'][number];

/** Prices of one USDT at all exchanges, now or some seconds ago. @param change by name of the exchange. */
export const exchangeQuotes = (
  prices: { EUR: string; USD: string },
  { secondsAgo = 0, change = {} }: { secondsAgo?: number; change?: Partial<Record<Quote['source'], string>> } = {},
): Quote[] =>
  exchanges.flatMap((source) =>
    (['EUR', 'USD'] as const).map((currency) => ({
      ...{ source, currency, value: change[source] ?? prices[currency] },
      as_of: new Date(Date.now() - secondsAgo * 1_000).toISOString(),
    })),
  );

/** Reference rates of the day that is due: how much of each currency one euro costs. */
export const bankQuotes = (rates: Record<string, string>, day = dayDue(new Date())): Quote[] =>
  Object.entries(rates).map(([currency, value]) => ({
    ...{ source: 'ecb' as const, currency, value },
    as_of: `${day}T14:00:00.000Z`,
  }));

export const observed = (quotes: Quote[]): RatesObserved => ({ observed_at: new Date().toISOString(), quotes });
