import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { ApiKey } from '@quittance/contracts/http/api-gateway/api-keys.ts';
import { BlockMerchant, type Merchant } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { changedFields, type AuditEntry } from '@quittance/contracts/http/audit.ts';
import type { OwnLimits } from '@quittance/contracts/http/payments/limits.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Payment } from '@quittance/contracts/payment.ts';
import type { Viewer } from './frame.ts';
import { badge, facts, link, merchantLink, paymentLink, table, time } from './parts.ts';

const PAGE = 100;

export const nameForm = (name: string): Html =>
  html`<form method="get" action="/merchants" role="search">
    <label for="name">Part of a name</label>
    <input id="name" name="name" type="search" value="${name}" maxlength="200" autocomplete="off" />
    <button>Find</button>
  </form>`;

export function merchantsTable(merchants: readonly Merchant[], name: string): Html {
  const last = merchants.at(PAGE - 1)?.merchant_id;
  const older = new URLSearchParams({ ...(name !== '' && { name }), before: last ?? '' });
  return html`${table('Newest first', merchants, {
    Merchant: ({ merchant_id: id }) => merchantLink(id),
    Name: (merchant) => merchant.name,
    'Customers see': ({ display_name: shown }) => shown,
    Account: ({ status }) => badge(status),
    Registered: ({ created_at: at }) => time(at),
    'Last request': ({ last_request_at: at }) => time(at),
  })}
  ${last === undefined ? [] : html`<p><a href="/merchants?${older.toString()}">Older ones</a></p>`}`;
}

export const merchantFacts = (merchant: Merchant, viewer: Viewer): Html =>
  html`${facts({
    Merchant: merchant.merchant_id,
    'Pays nothing': link(`/merchants/${merchant.merchant_id}/transfers`, 'Transfers that pay nothing'),
    'Customers see': merchant.display_name,
    Account: badge(merchant.status),
    Registered: time(merchant.created_at),
    'Last request': time(merchant.last_request_at),
  })}
  ${mayCall(viewer, BlockMerchant.access) ? actions(merchant) : []}`;

function actions({ merchant_id: id, status }: Merchant): Html {
  const account = status === 'active' ? ['block', 'Block'] : ['unblock', 'Unblock'];
  const names = [['activate', 'Start the beta'], ['pause', 'Pause'], ['resume', 'Resume'], account];
  return html`<p class="actions">
    ${names.map(([name = '', label = '']) => html`${link(`/merchants/${id}/${name}`, label)} `)}
  </p>`;
}

export const limitsFacts = (limits: OwnLimits): Html =>
  facts({
    Access: limits.access_type,
    'May create': limits.creation_allowed ? 'yes' : `no: ${limits.creation_block_reason?.replaceAll('_', ' ') ?? ''}`,
    Used: `${limits.requests_used} of ${limits.total_limit}`,
    Today: limits.daily_limit === null ? limits.daily_used : `${limits.daily_used} of ${limits.daily_limit}`,
    Lifetime: limits.lifetime_requests_used,
    'Beta ends': time(limits.beta_expires_at),
  });

export const keysTable = ({ keys }: { keys: readonly ApiKey[] }): Html =>
  table('API keys', keys, {
    Name: ({ name }) => name,
    Scope: ({ scope }) => scope,
    Created: ({ created_at: at }) => time(at),
    Revoked: ({ revoked_at: at }) => time(at),
  });

export const ownPaymentsTable = ({ payments }: { payments: readonly Payment[] }): Html =>
  table('Newest payments', payments, {
    Payment: ({ payment_id: id }) => paymentLink(id),
    Status: ({ status }) => badge(status),
    Amount: ({ amount, currency }) => `${amount} ${currency}`,
    Order: ({ order_id: order }) => order,
    Created: ({ created_at: at }) => time(at),
    Paid: ({ paid_at: at }) => time(at),
  });

export const changesTable = (title: string, entries: readonly AuditEntry[]): Html =>
  table(title, entries, {
    When: ({ at }) => time(at),
    Who: ({ actor }) => actor,
    What: ({ action }) => action.replaceAll(/[_-]/g, ' '),
    Changed: (entry) => changedFields(entry).map(changeText).join('; '),
    Why: ({ reason }) => reason,
  });

/** `creation paused: false → true`; of a first entry, what it began with. */
const changeText = ({ field, from, to }: ReturnType<typeof changedFields>[number]): string =>
  `${field.replaceAll('_', ' ')}: ${from === null ? '' : `${valueText(from)} → `}${valueText(to)}`;

const valueText = (value: unknown): string =>
  value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
