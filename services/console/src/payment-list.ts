import { html, type Html } from '@quittance/checkout-page/html.ts';
import { paymentStatuses } from '@quittance/contracts/api/payment.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import { field, filterForm, searchField, selectField } from './filter.ts';
import { timeOf } from './cell.ts';
import { olderLink } from './view.ts';

/** Payments on a page. */
const LISTED = 50;

const DAY_MS = 86_400_000;

/** What a list of payments is narrowed by, as the address of the page has it. */
const names = ['status', 'network', 'amount_min', 'amount_max', 'from', 'to'] as const;

type Filters = Partial<Record<(typeof names)[number] | 'cursor', string>>;

export function filtersIn({ query }: Pick<RouteRequest, 'query'>): Filters {
  const given = [...names, 'cursor' as const].flatMap((name) => {
    const text = (query.get(name) ?? '').trim();
    return text === '' ? [] : [[name, text] as const];
  });
  return Object.fromEntries(given);
}

/** As the calls take them: days of UTC, both included. */
export function queryOf({ from, to, ...others }: Filters) {
  const end = to === undefined ? Number.NaN : Date.parse(`${to}T00:00:00Z`) + DAY_MS;
  return {
    ...others,
    ...(from !== undefined && { created_from: `${from}T00:00:00Z` }),
    ...(to !== undefined && { created_to: Number.isNaN(end) ? to : new Date(end).toISOString() }),
    limit: LISTED,
  };
}

/** @param more fields that only one list has. */
export const listForm = (path: string, text: string, filters: Filters, more: readonly Html[] = []): Html =>
  filterForm(path, [
    searchField('q', 'Description, order, amount or any id', text),
    ...more,
    selectField('status', 'Status', ['', ...paymentStatuses], filters.status ?? '', { names: { '': 'any' } }),
    input('network', 'Network', filters.network, 'text'),
    input('from', 'From', filters.from, 'date'),
    input('to', 'To', filters.to, 'date'),
    input('amount_min', 'At least, USDT', filters.amount_min, 'text'),
    input('amount_max', 'At most, USDT', filters.amount_max, 'text'),
  ]);

export const input = (name: string, label: string, value: string | undefined, type: 'text' | 'date'): Html =>
  field(
    name,
    label,
    html`<input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${value ?? ''}"
      maxlength="100"
      autocomplete="off"
    />`,
  );

/** The way to older payments. A search that stopped before its page was full says how far back it has looked. */
export function goOn(
  path: string,
  given: Readonly<Record<string, string>>,
  { next_cursor: cursor, searched_to: searchedTo = null }: { next_cursor: string | null; searched_to?: string | null },
): Html {
  const older = cursor === null ? null : new URLSearchParams({ ...given, cursor });
  const looked =
    cursor === null || searchedTo === null ? [] : html`<p class="quiet-text">Looked back to ${timeOf(searchedTo)}.</p>`;
  return html`${looked} ${olderLink(older && `${path}?${older.toString()}`)}`;
}
