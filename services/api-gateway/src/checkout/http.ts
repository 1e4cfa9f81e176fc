import type { Network } from '@quittance/contracts/networks.ts';
import { pathParameter, type Reply, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type PageChoices, assets } from '@quittance/checkout-page/document.ts';
import { chooseLanguage, findLanguage } from '@quittance/checkout-page/languages.ts';
import { notFoundPage, paymentPage, unavailablePage } from '@quittance/checkout-page/page.ts';
import { nobody, type Shop } from '@quittance/checkout-page/shop.ts';
import { accentStylesheet } from '@quittance/checkout-page/accent.ts';
import { compressed, assetFiles } from '../compression.ts';
import type { CheckoutHelpReader } from './help.ts';
import type { PaymentViews } from '../payments/views.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { CACHE_IMMUTABLE } from '@quittance/checkout-page/asset.ts';

type Dependencies = {
  views: PaymentViews;
  help: CheckoutHelpReader;
  networks: readonly Network[];
  /** What customers see of a merchant. */
  shopOf: (merchantId: string) => Promise<Shop>;
  logger: Logger;
};

/**
 * Only our own script, stylesheets and images load, no site frames the page but those that the merchant names, its form goes to itself, and
 * links out of it do not carry the token.
 */
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  vary: 'accept-language',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
};

const framing = ({ embedOrigins }: Shop) => ({
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; " +
    `frame-ancestors ${embedOrigins.length === 0 ? "'none'" : embedOrigins.join(' ')}`,
  // A site that isolates itself frames only what allows it.
  'cross-origin-resource-policy': embedOrigins.length === 0 ? 'same-origin' : 'cross-origin',
});

/**
 * The hosted checkout page. A person always gets a page, never JSON. Mail and chat programs often make the punctuation after a link a part of it.
 */
export const checkoutRoute = ({ views, help, networks, shopOf, logger }: Dependencies): Route => ({
  method: 'GET',
  path: '/pay/:public_token',
  handle: async (request) => {
    const choices = choicesOf(request);
    const page = (status: number, body: string, headers: Record<string, string> = {}, shop = nobody): Reply =>
      compressed(request, {
        status,
        body,
        headers: { ...pageHeaders, ...framing(shop), 'content-language': choices.language.code, ...headers },
      });
    try {
      const token = pathParameter(request.params, 'public_token');
      const withoutEnd = token.replace(/[^A-Za-z0-9_-]+$/, '');
      if (withoutEnd !== token && withoutEnd !== '') {
        const query = request.query.toString();
        return page(302, '', { location: query === '' ? withoutEnd : `${withoutEnd}?${query}` });
      }
      const payment = await views.checkoutPayment(token);
      if (payment === null) return page(404, notFoundPage(choices));
      // The form may be sent empty.
      const typed = request.query.get('transaction_id')?.trim() || null;
      const shop = payment.merchant_id === null ? nobody : await shopOf(payment.merchant_id);
      const { retryAfterSeconds, ...helped } = await help(token, payment, { typed, client: edgeClient(request) });
      const body = paymentPage({ view: { ...payment, ...helped }, networks, shop }, choices);
      if (retryAfterSeconds === undefined) return page(200, body, {}, shop);
      return page(429, body, { 'retry-after': String(retryAfterSeconds) }, shop);
    } catch (error) {
      logger.warn({ error }, 'the checkout page could not be shown');
      return page(503, unavailablePage(choices), { 'retry-after': '5' });
    }
  },
});

/** Values that the page's own links do not have are ignored. */
function choicesOf({ query, headers }: RouteRequest): PageChoices {
  const lang = query.get('lang') ?? undefined;
  const qr = query.get('qr');
  const language = chooseLanguage({ lang, acceptLanguage: headers['accept-language'] });
  return {
    language,
    chosenLanguage: findLanguage(lang ?? '')?.code ?? null,
    qr: qr === 'link' || qr === 'recipient' ? qr : null,
  };
}

/**
 * GET /assets/{name}. During a rolling update a page of one release may ask a process of another release for its script. It gets this
 * release's script, uncached: without one the page would not update, and would still ask for a payment that has expired.
 */
export function assetRoute(): Route {
  const files = assetFiles(assets, CACHE_IMMUTABLE);
  const ofOtherReleases = new Map([...assetFiles(assets, 'no-store')].map(([name, file]) => [withoutHash(name), file]));
  return {
    method: 'GET',
    path: '/assets/:name',
    handle: (request) => {
      const name = pathParameter(request.params, 'name');
      const file = files.get(name) ?? ofOtherReleases.get(withoutHash(name));
      if (file === undefined) throw new HttpError(404, 'Not found');
      return file(request);
    },
  };
}

/** GET /assets/accents/{rrggbb}.css: a merchant's color. It follows from the name alone. */
export const accentRoute: Route = {
  method: 'GET',
  path: '/assets/accents/:name',
  handle: ({ params }) => {
    const [, color] = /^([0-9a-f]{6})\.css$/.exec(pathParameter(params, 'name')) ?? [];
    if (color === undefined) throw new HttpError(404, 'Not found');
    return {
      status: 200,
      body: accentStylesheet(`#${color}`),
      headers: {
        'content-type': 'text/css; charset=utf-8',
        'cache-control': CACHE_IMMUTABLE,
        'x-content-type-options': 'nosniff',
      },
    };
  },
};

/** "checkout.0123456789abcdef.js" → "checkout.js"; null for a name without a hash. */
const withoutHash = (name: string): string | null =>
  /^(.+)\.[0-9a-f]{16}(\.\w+)$/.exec(name)?.slice(1).join('') ?? null;

/**
 * The client's address of a public request. The edge sets X-Forwarded-For and discards the client's own. Requests that do not pass the edge
 * come from the machine or the cluster itself.
 */
const edgeClient = ({ headers, remoteAddress }: Pick<RouteRequest, 'headers' | 'remoteAddress'>): string =>
  [headers['x-forwarded-for'] ?? []].flat().at(-1)?.split(',').at(-1)?.trim() || remoteAddress;
