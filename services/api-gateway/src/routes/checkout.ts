import type { Network } from '@quittance/contracts/networks.ts';
import { pathParameter, type Reply, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { PageChoices } from '@quittance/checkout-page/document.ts';
import { chooseLanguage, findLanguage } from '@quittance/checkout-page/languages.ts';
import { notFoundPage, paymentPage, unavailablePage } from '@quittance/checkout-page/page.ts';
import { edgeClient } from '../admission/edge-client.ts';
import { compressed } from '../responses/compression.ts';
import type { CheckoutHelpReader } from '../upstream/checkout-help.ts';
import type { PaymentViews } from '../upstream/payment-views.ts';

type Dependencies = {
  views: PaymentViews;
  help: CheckoutHelpReader;
  networks: readonly Network[];
  /** What a merchant calls its shop; null where it has not said. */
  shopNameOf: (merchantId: string) => Promise<string | null>;
  logger: Logger;
};

/** Only our own two files run or load, no site frames the page, its form goes to itself, and no link out of it carries the token. */
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  vary: 'accept-language',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
};

/** The hosted checkout page. A person gets a page whatever happens, never JSON. */
export const checkoutRoutes = ({ views, help, networks, shopNameOf, logger }: Dependencies): Route[] => [
  {
    method: 'GET',
    path: '/pay/:public_token',
    handle: async (request) => {
      const choices = choicesOf(request);
      const page = (status: number, body: string, headers: Record<string, string> = {}): Reply =>
        compressed(request, {
          status,
          body,
          headers: { ...pageHeaders, 'content-language': choices.language.code, ...headers },
        });
      try {
        const token = pathParameter(request.params, 'public_token');
        const payment = await views.checkoutPayment(token);
        if (payment === null) return page(404, notFoundPage(choices));
        // An empty field of the form asks nothing.
        const typed = request.query.get('transaction_id')?.trim() || null;
        const shopName = payment.merchant_id === null ? null : await shopNameOf(payment.merchant_id);
        const { retryAfterSeconds, ...helped } = await help(token, payment, { typed, client: edgeClient(request) });
        const body = paymentPage({ view: { ...payment, ...helped }, networks, shopName }, choices);
        if (retryAfterSeconds === undefined) return page(200, body);
        return page(429, body, { 'retry-after': String(retryAfterSeconds) });
      } catch (error) {
        logger.warn({ error }, 'the checkout page could not be shown');
        return page(503, unavailablePage(choices), { 'retry-after': '5' });
      }
    },
  },
];

/** Parameters in any other form than the page's own links are ignored. */
function choicesOf({ query, headers }: RouteRequest): PageChoices {
  const lang = query.get('lang') ?? undefined;
  const language = chooseLanguage({ lang, acceptLanguage: headers['accept-language'] });
  return {
    language,
    chosenLanguage: findLanguage(lang ?? '')?.code ?? null,
    qr: query.get('qr') === 'link' ? 'link' : 'recipient',
  };
}
