import type { RequestHandler } from 'express';

/**
 * Prevents other sites from using a visitor's browser, and its saved password, to send our forms (CSRF). Browsers report where a request
 * comes from: all current ones by Sec-Fetch-Site, older ones, and all without TLS, by Origin. A client that sends neither is not a browser.
 */
export const sameOriginOnly =
  (shopUrl: string): RequestHandler =>
  (request, response, next) => {
    const { origin, 'sec-fetch-site': site } = request.headers;
    const isOurs =
      site === undefined ? origin === undefined || origin === new URL(shopUrl).origin : site === 'same-origin';
    if (['GET', 'HEAD'].includes(request.method) || isOurs) next();
    else response.status(403).type('text').send('This form was sent from another site.\n');
  };
