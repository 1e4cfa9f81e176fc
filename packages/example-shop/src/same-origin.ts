import type { RequestHandler } from 'express';

/**
 * Lets no other site use a visitor's browser, and the password it keeps, to send our forms (CSRF). Browsers say where a request comes
 * from: all current ones by Sec-Fetch-Site, older ones, and all without TLS, by Origin. Who sends neither is no browser.
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
