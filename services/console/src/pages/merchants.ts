import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { Merchant } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { badge, merchantLink, table, time } from './parts.ts';

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
