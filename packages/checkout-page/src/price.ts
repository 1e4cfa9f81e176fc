import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import { html, type Html } from './html.ts';
import { fact } from './facts.ts';
import { fill, formatTransferred } from './format.ts';
import type { Language } from './languages.ts';
import { setApart } from './own-address.ts';

/** The price in another currency, and the rate that made the amount of it: "49.90 EUR, at 1.0842". Nothing for a price in USDT. */
export function priceFact({ price, rate }: CheckoutPayment, language: Language): Html[] {
  if (!price || !rate) return [];
  const amount = setApart(language)(`${formatTransferred(language, price.amount)} ${price.currency}`);
  const text = fill(language.texts.priceAt, {
    price: amount,
    rate: setApart(language)(formatTransferred(language, rate)),
  });
  return [fact(language.texts.price, html`<span class="price">${text}</span>`)];
}
