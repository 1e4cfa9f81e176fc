import { RatesObserved } from '@quittance/contracts/messages.ts';
import { legs, ONE, rateText } from '@quittance/contracts/rates.ts';
import { type Handler, on } from '@quittance/messaging/consumer/handler.ts';
import { judgeLeg, type RateRules } from './judge.ts';
import { readKnownRates, storeAccepted, storeQuotes } from './rate.sql.ts';

/** Stores what the sources say, and each price of USDT on which they agree. Every creation judges again, because what is stored ages. */
export const ratesObserved = (rules: RateRules): Handler =>
  on(RatesObserved, 'rates-observed', async ({ quotes }, { tx }) => {
    await storeQuotes(tx, quotes);
    const known = await readKnownRates(tx);
    for (const leg of legs) {
      const judged = judgeLeg(leg, known, rules);
      if ('scaled' in judged) await storeAccepted(tx, leg, rateText(judged.scaled, ONE), known.now);
    }
  });
