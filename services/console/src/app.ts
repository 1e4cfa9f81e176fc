import { CACHE_IMMUTABLE } from '@quittance/checkout-page/asset.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { createApp } from '@quittance/http/server/app.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { accountPages } from './account.ts';
import { passkeyScript, script, stylesheet } from './frame.ts';
import { incidentRoutes } from './incidents.ts';
import { merchantRoutes } from './merchants.ts';
import { acceptRoutes } from './my/accept.ts';
import { actingRoutes } from './my/acting.ts';
import { createRoutes } from './my/create.ts';
import { noticeRoutes } from './my/notices.ts';
import { startRoutes } from './my/start.ts';
import { endpointRoutes } from './my/endpoint.ts';
import { keyRoutes } from './my/keys.ts';
import { ownPageRoutes } from './my/pages.ts';
import { ownPaymentRoutes } from './my/payments.ts';
import { profileRoutes } from './my/profile.ts';
import { reportRoutes } from './my/report.ts';
import { teamRoutes } from './my/team.ts';
import { walletPages } from './my/wallets.ts';
import { networkRoutes } from './networks.ts';
import { overviewRoutes } from './overview.ts';
import type { Context } from './page-route.ts';
import { paymentRoutes } from './payments.ts';
import { peopleRoutes } from './people.ts';
import { readRunbooks, runbookRoutes } from './runbooks.ts';
import { signInRoutes } from './sign-in.ts';
import { transferRoutes } from './transfers.ts';
import { walletRoutes } from './wallets.ts';
import { webhookRoutes } from './webhooks.ts';

/** Longer than the services take for what they read from a chain. */
const TIMEOUT_MS = 12_000;

/**
 * All routes of the console. It has no internal ones, and is ready as soon as it listens: each page names the services that do not answer. People reach
 * it without anything of ours in front, so what the platform asks is on another port.
 */
export const createConsoleApp = (context: Context & { metrics: Metrics }) =>
  createApp({
    name: 'console',
    logger: context.logger,
    metrics: context.metrics,
    publicTimeoutMs: TIMEOUT_MS,
    withProbes: false,
    ready: () => Promise.resolve(),
    routes: consoleRoutes(context),
  });

export const consoleRoutes = (context: Context, runbooks = readRunbooks()): Route[] => [
  ...signInRoutes(context),
  ...accountPages(context),
  ...overviewRoutes(context),
  ...paymentRoutes(context),
  ...transferRoutes(context),
  ...merchantRoutes(context),
  ...walletRoutes(context),
  ...webhookRoutes(context),
  ...networkRoutes(context),
  ...incidentRoutes(context, runbooks),
  ...runbookRoutes(context, runbooks),
  ...peopleRoutes(context),
  ...startRoutes(context),
  ...ownPaymentRoutes(context),
  ...reportRoutes(context),
  ...ownPageRoutes(context),
  ...createRoutes(context),
  ...acceptRoutes(context),
  ...actingRoutes(context),
  ...endpointRoutes(context),
  ...keyRoutes(context),
  ...profileRoutes(context),
  ...walletPages(context),
  ...teamRoutes(context),
  ...noticeRoutes(context),
  assetRoute,
];

/** One of another release, which a replica of this one is asked for during an update, is this one's. */
const assetRoute: Route = {
  method: 'GET',
  path: '/assets/:name',
  handle: ({ params }) => {
    const name = pathParameter(params, 'name');
    const asset = [stylesheet, script, passkeyScript].find((one) => withoutHash(one.name) === withoutHash(name));
    if (asset === undefined) throw new HttpError(404, 'Not found');
    const cache = name === asset.name ? CACHE_IMMUTABLE : 'no-store';
    const headers = { 'content-type': asset.contentType, 'cache-control': cache };
    return { status: 200, body: asset.bytes, headers: { ...headers, 'x-content-type-options': 'nosniff' } };
  },
};

const withoutHash = (name: string): string => name.replace(/\.[0-9a-f]{16}\./, '.*.');
