import { html } from '@quittance/checkout-page/html.ts';
import { ListFailedEvents, RecoverEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { ListLanes } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { eventId } from '@quittance/operator/field.ts';
import { failedTable, lanesTable, retryEvents, totalText } from '@quittance/operator/webhooks.ts';
import { actionRoutes } from './action.ts';
import { inPath, pageRoute, type Context } from './page-route.ts';
import { render } from './view.ts';

export const webhookRoutes = (context: Context): Route[] => [
  pageRoute(context, '/webhooks', async ({ services, viewer }) => {
    const [waiting, held, { events, total }] = await Promise.all([
      services.call(ListLanes),
      services.call(ListLanes, { query: { held: 'true' } }),
      services.call(ListFailedEvents, { query: { status: 'failed' } }),
    ]);
    const view = [
      failedTable(events, 'failed events'),
      lanesTable(waiting.lanes, 'merchants whose events wait'),
      lanesTable(held.lanes, 'blocked merchants whose events are held'),
    ];
    const isPart = total > events.length;
    return {
      title: 'Webhooks',
      content: html`${isPart ? html`<p>The oldest ${String(events.length)} of ${totalText(total)} failed events.</p>` : []}
      ${render(view, viewer)}`,
    };
  }),
  ...actionRoutes(context, retryEvents, async ({ request, services }, _values, author) => {
    const event_id = inPath(request, 'event_id', eventId, 'Webhook event not found');
    const { payment_id: paymentId } = await services.call(RecoverEvent, { params: { event_id }, author });
    return paymentId === null ? '/webhooks' : `/payments/${paymentId}`;
  }),
];
