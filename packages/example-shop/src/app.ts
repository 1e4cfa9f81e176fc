import { fileURLToPath } from 'node:url';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { NotFound } from './not-found.ts';
import { messagePage } from './pages/layout.ts';
import { adminLogin } from './routes/admin-login.ts';
import { adminRoutes } from './routes/admin.ts';
import { customerRoutes } from './routes/customer.ts';
import { webhook } from './routes/webhook.ts';
import { sameOriginOnly } from './same-origin.ts';
import { inOneLine, type Shop } from './shop.ts';

const assets = fileURLToPath(new URL('assets/', import.meta.url));

export function createApp(shop: Shop): Express {
  const { shopUrl, quittanceUrl, adminPassword, trustedProxies } = shop.config;
  const app = express();
  app.disable('x-powered-by');
  // The proxies that are trusted to report a visitor's address.
  app.set('trust proxy', trustedProxies);
  // Before everything that parses bodies, because the signature covers the bytes.
  app.all('/webhook', webhook(shop));
  app.use('/assets', express.static(assets, { index: false }));
  app.use(headers(new URL(quittanceUrl).origin), sameOriginOnly(shopUrl));
  app.use(customerRoutes(shop));
  app.use('/admin', adminLogin(adminPassword), adminRoutes(shop));
  app.use(() => {
    throw new NotFound();
  });
  app.use(failed(shop));
  return app;
}

/** The pages have no script, load only from here, and are never cached, because an order's address is enough to see it. */
function headers(checkout: string): RequestHandler {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    // The forms redirect to the checkout, and browsers apply this directive to redirects too.
    `form-action 'self' ${checkout}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return (_request, response, next) => {
    response.set({
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-store',
    });
    next();
  };
}

function failed({ log }: Shop): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    // A form that cannot be parsed is the sender's fault, and Express marks it so.
    const { status = 500 } = error as { status?: number };
    if (status >= 500) log(`${request.method} ${request.path} failed: ${inOneLine(error)}`);
    if (response.headersSent) next(error);
    else if (status === 404) response.status(404).send(messagePage('Not found', 'There is nothing at this address.'));
    else response.status(status).send(messagePage('That did not work', 'Go back and try again in a moment.'));
  };
}
