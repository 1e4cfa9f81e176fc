import { ReadRates } from '@quittance/contracts/http/payments/rates.ts';
import { rateRefusals } from '@quittance/contracts/rates.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { type Loop, type LoopContext, startLoop } from '@quittance/runtime/loop.ts';
import { ratesInForce, type RateRules } from './judge.ts';
import { readKnownRates } from './rate.sql.ts';

export const ratesRoute = (db: Queryable, rules: RateRules): Route =>
  callRoute(ReadRates, async () => ratesInForce(await readKnownRates(db), rules));

const INTERVAL_MS = 15_000;

/** Counts the currencies without a rate, by reason, and says how old each source is. All are 0 where none is configured: nothing is missing. */
export function startCountRatesLoop(context: LoopContext & { db: Queryable; rates: RateRules }): Loop {
  const gauge = context.metrics.gauge('rates_unavailable', 'Currencies without a rate, by reason', ['reason']);
  const age = context.metrics.gauge(
    'rate_source_age_seconds',
    'Age of the newest value of a source of exchange rates',
    ['source'],
  );
  return startLoop({
    name: 'count-rates',
    intervalMs: INTERVAL_MS,
    logger: context.logger,
    metrics: context.metrics,
    run: async () => {
      const known = await readKnownRates(context.db);
      const { unavailable } = ratesInForce(known, context.rates);
      const missing = known.quotes.length === 0 ? [] : unavailable;
      for (const reason of rateRefusals) gauge.set({ reason }, missing.filter((one) => one.reason === reason).length);
      for (const [source, quotes] of Map.groupBy(known.quotes, (quote) => quote.source)) {
        const newest = Math.max(...quotes.map((quote) => quote.as_of.getTime()));
        age.set({ source }, (known.now.getTime() - newest) / 1_000);
      }
      return { more: false };
    },
  });
}
