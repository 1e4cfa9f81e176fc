import { html, type Html } from '@quittance/checkout-page/html.ts';
import { RecoverEvent, type FailedEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { Lane } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Viewer } from './frame.ts';
import { badge, link, merchantLink, paymentLink, table, time } from './parts.ts';
import { errorWords } from './story.ts';

export const failedTable = ({ events, total }: { events: FailedEvent[]; total: number }, viewer: Viewer): Html =>
  html`${total > events.length ? html`<p>The oldest ${String(events.length)} of ${String(total)} failed events.</p>` : []}
  ${table('Failed events', events, {
    Event: ({ event_id: id }) => id,
    Type: ({ event_type: type }) => type ?? 'PAID',
    Payment: ({ payment_id: id }) => paymentLink(id),
    Merchant: ({ merchant_id: id }) => merchantLink(id),
    'Last attempt': ({ last_attempt_at: at }) => time(at),
    Error: ({ error_category: error }) => errorWords(error),
    ...(mayCall(viewer, RecoverEvent.access) && {
      Actions: ({ event_id: id }: FailedEvent) => link(`/events/${id}/retry`, 'Deliver again'),
    }),
  })}`;

export const lanesTable = (title: string, { lanes }: { lanes: readonly Lane[] }): Html =>
  table(title, lanes, {
    Merchant: ({ merchant_id: id }) => merchantLink(id),
    Events: ({ events }) => events,
    Host: ({ host }) => host,
    Due: ({ due }) => due,
    Since: ({ oldest_due_at: at }) => time(at),
    Failures: ({ failures }) => failures,
    Error: ({ error_category: error }) => errorWords(error),
    Circuit: ({ circuit_state: state }) => badge(state.replace('_', ' ')),
  });
