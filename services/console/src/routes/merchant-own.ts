import { html } from '@quittance/checkout-page/html.ts';
import { TestWebhookAsPerson } from '@quittance/contracts/http/api-gateway/webhook-test.ts';
import { ReadLimits } from '@quittance/contracts/http/payments/limits.ts';
import { ListUnmatchedOfMerchant } from '@quittance/contracts/http/payments/unmatched.ts';
import { ReadUsage } from '@quittance/contracts/http/quota/history.ts';
import { ReadWebhook, type TestedWebhook } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { ReadWebhookHealth } from '@quittance/contracts/http/webhook-dispatcher/health.ts';
import { HttpError } from '@quittance/http/errors.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { usageTable } from '../pages/account.ts';
import { page, type MerchantViewer } from '../pages/frame.ts';
import { endpointFacts, healthTables, limitsFacts, ownTransfersTable, testForm } from '../pages/merchant-account.ts';
import { show } from '../pages/parts.ts';
import { partOf } from '../upstream/services.ts';
import { ownPage, paramsOf, type OwnVisit } from './merchant-page.ts';
import { ownPaymentRoutes } from './merchant-payments.ts';
import { reportRoutes } from './merchant-report.ts';
import { formRoute, htmlReply, isMerchant, type Context } from './page-route.ts';

/** Longer than an attempt at a merchant's receiver may take. */
const TEST_TIMEOUT_MS = 19_000;

/**
 * What a merchant's people see and do. No address has the merchant's id in it: whose data it is says the session, and each service holds
 * the token against what is asked.
 */
export const merchantOwnRoutes = (context: Context): Route[] => [
  ...ownPaymentRoutes(context),
  ...reportRoutes(context),
  ownPage(context, '/my/transfers', async ({ request, services, viewer }) => {
    const cursor = request.query.get('cursor') ?? undefined;
    const transfers = await services.call(ListUnmatchedOfMerchant, { ...paramsOf(viewer), query: { cursor } });
    return { title: 'Transfers', content: ownTransfersTable(transfers) };
  }),
  ownPage(context, '/my/limits', async ({ services, viewer }) => {
    const [limits, usage] = await Promise.all([
      partOf(services.call(ReadLimits, paramsOf(viewer))),
      partOf(services.call(ReadUsage, paramsOf(viewer))),
    ]);
    return { title: 'Limits', content: html`${show(limits, limitsFacts)} ${show(usage, usageTable)}` };
  }),
  ownPage(context, '/my/webhooks', async (visit) => ({ title: 'Webhooks', content: await webhooks(visit, null) })),
  {
    publicTimeoutMs: TEST_TIMEOUT_MS,
    ...formRoute(context, '/my/webhooks/test', isMerchant, async (visit) => {
      const { services, viewer } = visit;
      const author = { actor: viewer.name, reason: 'from the console' };
      const tested = await services.call(TestWebhookAsPerson, { ...paramsOf(viewer), author });
      return htmlReply(200, page('Webhooks', viewer, await webhooks(visit, tested)));
    }),
  },
];

async function webhooks({ services, viewer }: OwnVisit, tested: TestedWebhook | null) {
  const [settings, health] = await Promise.all([
    partOf(endpointOf(services, viewer)),
    partOf(services.call(ReadWebhookHealth, paramsOf(viewer))),
  ]);
  return html`${show(settings, endpointFacts)} ${testForm(viewer, tested)} ${show(health, healthTables)}`;
}

/** @returns null before the first configuration. */
async function endpointOf(services: OwnVisit['services'], viewer: MerchantViewer) {
  try {
    return await services.call(ReadWebhook, paramsOf(viewer));
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return null;
    throw error;
  }
}
