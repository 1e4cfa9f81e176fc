import { html, type Html } from '@quittance/checkout-page/html.ts';
import { formatUnits } from '@quittance/contracts/amount.ts';
import { ListUnmatchedOfMerchant } from '@quittance/contracts/http/payments/unmatched.ts';
import { ListPayments } from '@quittance/contracts/http/payments/payments.ts';
import { ReadMerchantTotals, type CountedDay } from '@quittance/contracts/http/payments/reports.ts';
import { ReadWebhook } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { ReadWebhookHealth } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { mayAct } from '@quittance/contracts/principal.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { paymentsTable } from '@quittance/operator/payments.ts';
import { systemClock } from '@quittance/runtime/time.ts';
import { amountCell, MERCHANT_HOME, MERCHANT_START } from '../cell.ts';
import { tile, troubleTile } from '../overview.ts';
import { ownPage, paramsOf, type Context, type OwnVisit } from '../page-route.ts';
import { knownOr, partOf } from '../services.ts';
import { render, show } from '../view.ts';
import { CREATE } from './create.ts';
import { ENDPOINT } from './endpoint.ts';
import { hasNotices, NOTICES } from './notices.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;
const SHOWN = 5;

/** What came in, what somebody should look at, and what is still to be set up. */
export const startRoutes = (context: Context): Route[] => [
  ownPage(context, MERCHANT_START, async (visit) => {
    const { services, viewer } = visit;
    const params = paramsOf(viewer);
    const today = systemClock();
    const span = { from: dayOf(new Date(today.getTime() - (DAYS - 1) * DAY_MS)), to: dayOf(today) };
    const [totals, health, unmatched, webhook, newest] = await Promise.all([
      partOf(services.call(ReadMerchantTotals, { ...params, query: span })),
      partOf(services.call(ReadWebhookHealth, params)),
      partOf(services.call(ListUnmatchedOfMerchant, { ...params, query: {} })),
      partOf(knownOr(null, services.call(ReadWebhook, params))),
      partOf(services.call(ListPayments, { ...params, query: { limit: SHOWN } })),
    ]);
    const hasPayments = 'value' in newest && newest.value.payments.length > 0;
    return {
      title: 'Start',
      content: html`${mayAct(viewer, 'staff') ? html`<p class="actions"><a class="main" href="${CREATE}">New payment</a></p>` : []}
        ${show(webhook, (known) => steps(visit, { hasWebhook: known !== null, hasPayments, hasNotices: hasNotices(context) }))}
        <div class="counts">
          ${show(totals, ({ days }) => sums(days))}
          ${show(unmatched, ({ transfers }) => troubleTile('Transfers that pay nothing', '/my/transfers', transfers.length))}
          ${show(health, ({ failed }) => troubleTile('Events that did not arrive', '/my/webhooks', failed.total))}
        </div>
        ${show(newest, ({ payments }) => render([paymentsTable(payments, 'newest payments')], viewer))}
        <p><a href="${MERCHANT_HOME}">All payments</a></p>`,
    };
  }),
];

const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** As many decimals as a token has at most. */
const DECIMALS = 18;

/** Exact decimal text as a whole number. */
function unitsOf(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'));
}

function sums(days: readonly CountedDay[]): Html {
  const paid = (label: string, last: number) => {
    const some = days.slice(-last);
    const units = some.reduce((sum, { paid_amount: amount }) => sum + unitsOf(amount), 0n);
    const count = some.reduce((sum, day) => sum + day.paid, 0);
    return tile(
      label,
      html`${amountCell({ amount: formatUnits(units, DECIMALS), currency: 'USDT' })}`,
      count === 1 ? '1 payment' : `${count} payments`,
    );
  };
  return html`${paid('Paid today, UTC', 1)} ${paid('Paid in 7 days', 7)} ${paid(`Paid in ${DAYS} days`, DAYS)}`;
}

/** What a new merchant has to do, until it is done. */
function steps(
  { viewer }: OwnVisit,
  { hasWebhook, hasPayments, hasNotices: canBeTold }: Record<'hasWebhook' | 'hasPayments' | 'hasNotices', boolean>,
): Html {
  const passkey = viewer.passkeys === 0;
  if (hasWebhook && hasPayments && !passkey) return html``;
  const step = (isDone: boolean, text: string, path: string) =>
    html`<li>${isDone ? html`<s>${text}</s>` : html`<a href="${path}">${text}</a>`}</li>`;
  return html`<section>
    <h2>To be set up</h2>
    <ol class="steps">
      ${passkey ? step(false, 'Add a passkey, with which you sign in and confirm', '/account') : []}
      ${step(hasWebhook, 'Tell us where your shop receives webhooks', ENDPOINT)}
      ${hasWebhook || !canBeTold ? [] : step(false, 'Or, without a shop system, be told by e-mail', NOTICES)}
      ${step(hasPayments, 'Create the first payment', CREATE)}
    </ol>
  </section>`;
}
