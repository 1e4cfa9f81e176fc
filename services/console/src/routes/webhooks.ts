import { html } from '@quittance/checkout-page/html.ts';
import { ListFailedEvents, ReadEvent, RecoverEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { ListLanes } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import { isId } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { confirmation, REASON_MAX } from '../pages/confirmation.ts';
import { failedTable, lanesTable } from '../pages/webhooks.ts';
import { textIn } from '../session/form.ts';
import { actionRoute, pageRoute, type Context, type Visit } from './page-route.ts';

export const webhookRoutes = (context: Context): Route[] => [
  pageRoute(context, '/webhooks', async ({ services, viewer }) => {
    const [waiting, held, failed] = await Promise.all([
      services.call(ListLanes),
      services.call(ListLanes, { query: { held: 'true' } }),
      services.call(ListFailedEvents, { query: { status: 'failed' } }),
    ]);
    return {
      title: 'Webhooks',
      content: html`${failedTable(failed, viewer)} ${lanesTable('Merchants whose events wait', waiting)}
      ${lanesTable('Blocked merchants whose events are held', held)}`,
    };
  }),
  pageRoute(context, '/events/:event_id/retry', async ({ request, services, viewer }) => {
    const id = eventIdIn(request);
    const { event } = await services.call(ReadEvent, { params: { event_id: id } });
    return {
      title: 'Deliver again',
      content: confirmation(viewer, {
        question: html`Begin a new delivery cycle of <strong>${id}</strong>, which is ${event.status} after
          ${String(event.attempts)} attempts? Its id and body stay.`,
        action: `/events/${id}/retry`,
        label: 'Deliver again',
        back: event.payment_id === null ? '/webhooks' : `/payments/${event.payment_id}`,
      }),
    };
  }),
  actionRoute(context, '/events/:event_id/retry', async ({ request, services, viewer }, form) => {
    const author = { actor: viewer.name, reason: textIn(form, 'reason', REASON_MAX) };
    const { payment_id: paymentId } = await services.call(RecoverEvent, {
      params: { event_id: eventIdIn(request) },
      author,
    });
    return paymentId === null ? '/webhooks' : `/payments/${paymentId}`;
  }),
];

/** @throws HttpError 404. */
function eventIdIn({ params }: Visit['request']): string {
  const id = pathParameter(params, 'event_id');
  if (!isId('evt', id)) throw new HttpError(404, 'Webhook event not found');
  return id;
}
