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

/** Counts the currencies without a rate, by reason. All are 0 where no source is configured, because nothing is missing there. */
export function startCountRatesLoop(context: LoopContext & { db: Queryable; rates: RateRules }): Loop {
  const gauge = context.metrics.gauge('rates_unavailable', 'Currencies without a rate, by reason', ['reason']);
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
      return { more: false };
    },
  });
}
