import { html, type Html } from '@quittance/checkout-page/html.ts';
import { exportFormats } from '@quittance/contracts/http/payments/finding.ts';
import type { OwnLimits } from '@quittance/contracts/http/payments/limits.ts';
import { reportGroups, reportTimes, type Report } from '@quittance/contracts/http/payments/report.ts';
import type { UnmatchedPage } from '@quittance/contracts/http/payments/unmatched.ts';
import type { TestedWebhook } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import type { WebhookHealth } from '@quittance/contracts/http/webhook-dispatcher/health.ts';
import { paymentStatuses } from '@quittance/contracts/api/payment.ts';
import type { WebhookSettings } from '@quittance/contracts/webhook.ts';
import { usageFacts } from './account.ts';
import { form, type MerchantViewer } from './frame.ts';
import { mayBeFor } from './candidates.ts';
import { choices, ownPaymentLink, toOwnPayment } from './merchant-payments.ts';
import { badge, facts, table, time } from './parts.ts';
import { reasonsPart } from './reasons.ts';
import { errorWords, words } from './story.ts';

/** Money that arrived and paid no payment. The merchant decides what to do about it, with its customer or with support. */
export const ownTransfersTable = ({ transfers, next_cursor: cursor, looked_through: until }: UnmatchedPage): Html =>
  html`${table('Unmatched transfers, newest first', transfers, {
    'Block time': ({ block_timestamp: at }) => time(at),
    Received: ({ amount }) => `${amount} USDT`,
    'Asked for': ({ related_payment: payment }) => payment && `${payment.amount} USDT`,
    Reason: ({ reason }) => words(reason),
    Payment: (transfer) => mayBeFor(transfer, toOwnPayment),
    Order: ({ related_payment: payment }) => payment?.order_id ?? null,
    Wallet: ({ merchant_wallet: wallet, network }) => `${wallet} on ${network}`,
    Transaction: ({ transaction_id: id }) => id,
  })}
  ${
    cursor === null
      ? []
      : html`<p>
          ${transfers.length > 0 ? '' : `None since ${until ?? ''}. `}<a href="/my/transfers?cursor=${cursor}"
            >Older ones</a
          >
        </p>`
  }
  ${reasonsPart(transfers)}`;

export const endpointFacts = (settings: WebhookSettings | null): Html =>
  settings === null
    ? html`<p>No webhook is configured: new payments are refused until there is one.</p>`
    : facts({
        Address: settings.url,
        Events: settings.events.join(', '),
        'Signed with the key': settings.key_id,
        Changed: time(settings.updated_at),
      });

/** One attempt now. Its body says that it is a test. */
export const testForm = (viewer: MerchantViewer, tested: TestedWebhook | null): Html =>
  html`${tested === null ? [] : testResult(tested)}
  ${form('/my/webhooks/test', viewer, html`<button>Send a test event</button>`)}`;

const testResult = ({
  event_id: id,
  delivered,
  http_status: status,
  error_category: error,
  duration_ms: ms,
}: TestedWebhook) =>
  html`<section role="status">
    <h2>Test event</h2>
    ${facts({
      Event: id,
      Result: badge(delivered ? 'delivered' : 'failed'),
      'HTTP status': status,
      Error: errorWords(error),
      Took: `${ms} ms`,
    })}
  </section>`;

export const healthTables = ({ lanes, failed }: WebhookHealth): Html =>
  html`${table('Delivery', lanes, {
    Events: ({ events }) => events,
    Host: ({ host }) => host,
    Due: ({ due }) => due,
    Since: ({ oldest_due_at: at }) => time(at),
    Failures: ({ failures }) => failures,
    Error: ({ error_category: error }) => errorWords(error),
    Circuit: ({ circuit_state: state }) => badge(state.replace('_', ' ')),
    'Not sent before': ({ put_off_until: at }) => time(at),
  })}
  ${failed.total > failed.events.length ? html`<p>The oldest ${String(failed.events.length)} of ${String(failed.total)} failed events.</p>` : []}
  ${table('Failed events', failed.events, {
    Event: ({ event_id: id }) => id,
    Type: ({ event_type: type }) => type ?? 'PAID',
    Payment: ({ payment_id: id }) => ownPaymentLink(id),
    'Last attempt': ({ last_attempt_at: at }) => time(at),
    Error: ({ error_category: error }) => errorWords(error),
  })}`;

export const limitsFacts = (limits: OwnLimits): Html =>
  html`${facts({ Access: limits.access_type, 'Beta ends': time(limits.beta_expires_at) })} ${usageFacts(limits)}`;

/** A span of UTC days, both included. */
export type Span = { from: string; to: string; group: string; by: string };

export const reportForm = ({ from, to, group, by }: Span): Html =>
  html`<form method="get" action="/my/report">
    ${spanInputs('report', from, to)}
    <label for="group">By</label>
    <select id="group" name="group">
      ${choices(reportGroups, group)}
    </select>
    <label for="by">Count as paid on</label>
    <select id="by" name="by">
      ${choices(reportTimes, by, { payment: 'the day it became PAID', chain: 'the day of its block' })}
    </select>
    <button>Show</button>
  </form>`;

export const exportForm = ({ from, to }: Span): Html =>
  html`<form method="get" action="/my/export">
    <h2>Export</h2>
    <p>Payments created in this time, oldest first; at most 366 days.</p>
    ${spanInputs('export', from, to)}
    <label for="status">Status</label>
    <select id="status" name="status">
      ${choices(['', ...paymentStatuses], '', { '': 'any' })}
    </select>
    <label for="format">Format</label>
    <select id="format" name="format">
      ${choices(exportFormats, 'csv')}
    </select>
    <button>Download</button>
  </form>`;

const spanInputs = (id: string, from: string, to: string): Html =>
  html`<label for="${id}-from">From, UTC</label>
    <input id="${id}-from" name="from" type="date" value="${from}" required />
    <label for="${id}-to">To, that day included</label>
    <input id="${id}-to" name="to" type="date" value="${to}" required />`;

export const reportTable = ({ rows, totals }: Report): Html =>
  html`${facts({
    Created: totals.created,
    Paid: totals.paid,
    'Paid amount': `${totals.paid_amount} USDT`,
    Expired: totals.expired,
    Cancelled: totals.cancelled,
  })}
  ${table('Report', rows, {
    Period: ({ period }) => period,
    Network: ({ network }) => network,
    Created: ({ created }) => created,
    Paid: ({ paid }) => paid,
    'Paid amount': ({ paid_amount: amount }) => `${amount} USDT`,
    Expired: ({ expired }) => expired,
    Cancelled: ({ cancelled }) => cancelled,
  })}`;
