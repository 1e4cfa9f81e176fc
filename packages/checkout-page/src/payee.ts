import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import { html, type Html } from './html.ts';
import { merchantsText } from './facts.ts';
import { fill } from './format.ts';
import type { Language } from './languages.ts';
import type { Shop } from './shop.ts';

/** Who is paid, in the merchant's own words. A logo alone would name nobody to a reader who cannot see it. */
export function payee({ name, logo }: Shop, language: Language): Html | [] {
  if (name === null) return [];
  return html`<header class="shop">
    ${logo === null ? initial(name, language) : html`<img class="logo" src="/assets/logos/${logo}.png" alt="" />`}
    <p><span>${language.texts.payee}</span> ${merchantsText('shop-name', name)}</p>
  </header>`;
}

function initial(name: string, { locale }: Language): Html {
  const letters = Array.from(new Intl.Segmenter(locale).segment(name), ({ segment }) => segment);
  const first = letters.find((letter) => /[\p{L}\p{N}]/u.test(letter)) ?? '';
  return html`<span class="initial" aria-hidden="true">${first.toLocaleUpperCase(locale)}</span>`;
}

/** Whom to ask, what to say, and how to reach them; nothing for a payment of an older release, which has no reference. */
export function contact(shop: Shop, view: CheckoutPayment, { texts }: Language): Html | [] {
  if (view.reference === null) return [];
  const reference = html`<b class="reference">${view.reference}</b>`;
  const text =
    shop.name === null
      ? fill(texts.contactShop, { reference })
      : fill(texts.contactNamed, { reference, shop: html`<bdi>${shop.name}</bdi>` });
  return html`<p class="contact">${text} ${links(shop, view.reference)}</p>`;
}

/** Where the merchant has named a way to reach it, it is there in every state. */
export const supportLinks = (shop: Shop, view: CheckoutPayment, language: Language): Html | [] =>
  shop.supportUrl === null && shop.supportEmail === null
    ? []
    : html`<div class="support">${contact(shop, view, language)}</div>`;

function links({ supportUrl: url, supportEmail: email }: Shop, reference: string): Html[] {
  return [
    ...(url === null || !/^https?:\/\//i.test(url)
      ? []
      : [
          html`<a href="${url}" rel="noopener noreferrer" referrerpolicy="no-referrer"
            ><bdi>${new URL(url).host}</bdi></a
          >`,
        ]),
    ...(email === null
      ? []
      : [
          html`<a
            href="mailto:${encodeURIComponent(email).replace('%40', '@')}?subject=${encodeURIComponent(reference)}"
            ><bdi>${email}</bdi></a
          >`,
        ]),
  ];
}
