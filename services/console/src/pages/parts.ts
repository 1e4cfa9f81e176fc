import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { Part } from '../upstream/services.ts';

export type Cell = string | number | null | Html;

/** A table under a heading. An empty one says so. */
export function table<Row>(title: string, rows: readonly Row[], columns: Record<string, (row: Row) => Cell>): Html {
  const id = title.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  return html`<section>
    <h2 id="${id}">${title}</h2>
    ${rows.length === 0 ? html`<p class="none">None.</p>` : grid(id, rows, columns)}
  </section>`;
}

/** The table alone. @param id of its heading. */
export function grid<Row>(id: string, rows: readonly Row[], columns: Record<string, (row: Row) => Cell>): Html {
  const body = rows.map(
    (row) =>
      html`<tr>
        ${Object.values(columns).map((column) => tableCell(cell(column(row))))}
      </tr>`,
  );
  // Scrolled by keyboard too, where it is wider than the screen.
  return html`<div class="scroll" role="region" aria-labelledby="${id}" tabindex="0">
    <table>
      <thead>
        <tr>
          ${Object.keys(columns).map((name) => html`<th scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>
  </div>`;
}

/** What has more characters than an amount or a reference goes over several lines: an id, an address, a sentence. */
const ONE_LINE_MAX = 18;

function tableCell(content: Html): Html {
  const isLong = content.html.replaceAll(/<[^>]*>/g, '').trim().length > ONE_LINE_MAX;
  return isLong ? html`<td class="long">${content}</td>` : html`<td>${content}</td>`;
}

/** Names and what they stand for, without those that stand for nothing. */
export const facts = (fields: Record<string, Cell>): Html =>
  html`<dl>
    ${Object.entries(fields)
      .filter(isGiven)
      .map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${cell(value)}</dd>
          </div>`,
      )}
  </dl>`;

const isGiven = ([, value]: [string, Cell]): boolean => value !== null;

/** The same under a heading. */
export const factsPart = (title: string, fields: Record<string, Cell>): Html =>
  html`<section>
    <h2>${title}</h2>
    ${facts(fields)}
  </section>`;

function cell(value: Cell): Html {
  if (value === null) return html`<span class="none">–</span>`;
  return typeof value === 'object' ? value : html`${String(value)}`;
}

/** `2026-01-31T12:00:00.000Z` as `2026-01-31 12:00:00`, which the heading of the column or the field calls UTC. */
export const time = (text: string | null): Cell =>
  text === null ? null : html`<time datetime="${text}">${text.slice(0, 10)} ${text.slice(11, 19)}Z</time>`;

/** A link within the console. @param path of pieces that are ours; whatever else is in it must be encoded. */
export const link = (path: string, text: string): Html => html`<a href="${path}">${text}</a>`;

export const toPayment = (id: string): Html => link(`/payments/${id}`, id);
export const paymentLink = (id: string | null): Cell => (id === null ? null : toPayment(id));
export const merchantLink = (id: string): Html => link(`/merchants/${id}`, id);

export const walletLink = (address: string): Html => link(`/wallets/${address}`, address);

export const badge = (text: string): Html => html`<span class="badge" data-is="${text}">${text}</span>`;

/** What one service has to say, or that it did not answer. */
export const show = <T>(part: Part<T>, view: (value: T) => Html): Html =>
  'silent' in part ? html`<p class="problem" role="alert">${part.silent}: this part is missing.</p>` : view(part.value);
