import { html, type Html } from '@quittance/checkout-page/html.ts';
import { TestWebhookAsPerson } from '@quittance/contracts/http/api-gateway/webhook-test.ts';
import { ReadLimits, type OwnLimits } from '@quittance/contracts/http/payments/gate.ts';
import { ListUnmatchedOfMerchant } from '@quittance/contracts/http/payments/unmatched.ts';
import { mayAct } from '@quittance/contracts/principal.ts';
import { ReadUsage } from '@quittance/contracts/http/quota.ts';
import { ReadWebhook, type TestedWebhook } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { ReadWebhookHealth, type WebhookHealth } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { WebhookSettings } from '@quittance/contracts/webhook.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { usageFields } from '@quittance/operator/access.ts';
import { usageTable } from '@quittance/operator/merchants.ts';
import { badge, facts, table, text, type Part, type View } from '@quittance/operator/view.ts';
import { typeOf } from '@quittance/operator/webhooks.ts';
import { form, page } from '../frame.ts';
import { acceptLink } from './accept.ts';
import { againPart } from './acting.ts';
import { ENDPOINT, ROTATE } from './endpoint.ts';
import { formRoute, htmlReply, isMerchant, ownPage, paramsOf, type Context, type OwnVisit } from '../page-route.ts';
import { knownOr, partOf } from '../services.ts';
import { errorWords } from '../story.ts';
import { unmatchedPart } from '../transfers.ts';
import { render, show } from '../view.ts';

const USAGE_DAYS = 14;

/** Longer than an attempt at a merchant's receiver may take. */
const TEST_TIMEOUT_MS = 19_000;

/**
 * What a merchant's people see and do. No address has the merchant's id in it: whose data it is says the session, and each service holds
 * the token against what is asked.
 */
export const ownPageRoutes = (context: Context): Route[] => [
  ownPage(context, '/my/transfers', async ({ request, services, viewer }) => {
    const cursor = request.query.get('cursor') ?? undefined;
    const transfers = await services.call(ListUnmatchedOfMerchant, { ...paramsOf(viewer), query: { cursor } });
    return { title: 'Transfers', content: unmatchedPart(transfers, '/my/transfers', viewer, acceptLink(viewer)) };
  }),
  ownPage(context, '/my/limits', async ({ services, viewer }) => {
    const [limits, usage] = await Promise.all([
      partOf(services.call(ReadLimits, paramsOf(viewer))),
      partOf(services.call(ReadUsage, paramsOf(viewer))),
    ]);
    return {
      title: 'Limits',
      content: html`${show(limits, (own) => render([limitsFacts(own)], viewer))}
      ${show(usage, ({ days }) => render([usageTable(days.slice(0, USAGE_DAYS), 'payments created by day')], viewer))}`,
    };
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

const limitsFacts = (own: OwnLimits): Part =>
  facts({
    access: own.access_type === 'beta' ? 'beta' : 'without an end',
    'beta ends': own.beta_expires_at,
    ...usageFields(own),
  });

/** @param tested the result of a test event that was just sent. */
async function webhooks({ services, viewer }: OwnVisit, tested: TestedWebhook | null): Promise<Html> {
  const [settings, health] = await Promise.all([
    // Null before the first configuration.
    partOf(knownOr(null, services.call(ReadWebhook, paramsOf(viewer)))),
    partOf(services.call(ReadWebhookHealth, paramsOf(viewer))),
  ]);
  const result = tested === null ? [] : html`<section role="status">${render([testFacts(tested)], viewer)}</section>`;
  return html`${show(settings, (known) => render(endpointView(known), viewer))} ${result}
    <div class="actions">
      ${form('/my/webhooks/test', viewer, html`<button>Send a test event</button>`)}
      ${mayAct(viewer, 'owner') ? html`<a href="${ENDPOINT}">Change the address</a> ${form(ROTATE, viewer, html`<button class="quiet">Replace the signing key</button>`)}` : []}
    </div>
    ${show(health, ({ failed }) => againPart(failed.events, viewer))}
    ${show(health, (known) => render(healthView(known), viewer))}`;
}

const endpointView = (settings: WebhookSettings | null): View => [
  settings === null
    ? text('No webhook is configured: new payments are refused until there is one.')
    : facts({
        address: settings.url,
        events: settings.events.join(', '),
        'signed with the key': settings.key_id,
        changed: settings.updated_at,
      }),
];

const testFacts = ({ event_id: event, delivered, http_status, error_category, duration_ms: ms }: TestedWebhook): Part =>
  facts(
    {
      event,
      result: badge(delivered ? 'delivered' : 'failed'),
      'HTTP status': http_status,
      error: errorWords(error_category),
      took: `${ms} ms`,
    },
    'test event',
  );

const healthView = ({ lanes, failed: { events, total } }: WebhookHealth): View => [
  table('delivery', lanes, {
    events: 'events',
    host: 'host',
    due: 'due',
    since: 'oldest_due_at',
    failures: 'failures',
    error: ({ error_category: error }) => errorWords(error),
    state: ({ circuit_state: state }) => badge(state === 'closed' ? 'working' : 'paused'),
    'not sent before': 'put_off_until',
  }),
  ...(total > events.length ? [text(`The oldest ${events.length} of ${total} failed events.`)] : []),
  table('failed events', events, {
    event: 'event_id',
    type: typeOf,
    payment: 'payment_id',
    'last attempt': 'last_attempt_at',
    error: ({ error_category: error }) => errorWords(error),
  }),
];
