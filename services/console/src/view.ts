import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { Part, Table, Value, View } from '@quittance/operator/view.ts';
import { badgeOf, cell, link } from './cell.ts';
import type { AnyViewer } from './frame.ts';
import type { Part as Answered } from './services.ts';

/** What an answer shows, as HTML. @param heading of a part that has none of its own. */
export const render = (view: View, viewer: AnyViewer, heading = ''): Html =>
  html`${view.map((part) => renderPart(part, viewer, heading))}`;

function renderPart(part: Part, viewer: AnyViewer, heading: string): Html {
  const title = capital(part.title ?? (part.kind === 'table' ? heading : ''));
  const content = contentOf(part, idOf(title), viewer);
  return title === ''
    ? content
    : html`<section>
        <h2 id="${idOf(title)}">${title}</h2>
        ${content}
      </section>`;
}

function contentOf(part: Part, id: string, viewer: AnyViewer): Html {
  if (part.kind === 'text') return html`<p>${part.text}</p>`;
  if (part.kind === 'facts') return factList(part.fields, viewer);
  return part.rows.length === 0 ? html`<p class="none">${part.empty ?? 'None.'}</p>` : grid(id, part, viewer);
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const idOf = (title: string): string => title.toLowerCase().replaceAll(/[^a-z]+/g, '-');

/** Labels and what they stand for, without those that stand for nothing. */
const factList = (fields: readonly (readonly [string, Value])[], viewer: AnyViewer): Html =>
  html`<dl>
    ${fields.map(([label, value]) => {
      const shown = cell(value, viewer);
      return shown === null
        ? html``
        : html`<div>
            <dt>${capital(label)}</dt>
            <dd>${shown}</dd>
          </div>`;
    })}
  </dl>`;

/** What a payment is about, in large. */
export const hero = (amount: string, currency: string, status: string, viewer: AnyViewer): Html =>
  html`<p class="hero">${cell({ amount, currency }, viewer) ?? []} ${badgeOf(status)}</p>`;

/** The attribute, where there is a class. */
const classes = (...names: readonly string[]): Html | Html[] => {
  const all = names.filter((name) => name !== '').join(' ');
  return all === '' ? [] : html`class="${all}"`;
};

/** The table alone. A column of actions is only there for those who have one. @param id of its heading. */
export function grid(id: string, { labels, rows }: Table, viewer: AnyViewer): Html {
  const cells = rows.map((row) => row.map((value) => cell(value, viewer, 'short')));
  const columns = labels.flatMap((label, at) =>
    cells.every((row) => row[at] === null) ? [] : [{ at, label: capital(label), kind: kindOf(label, rows, at) }],
  );
  // Scrolled by keyboard too, where it is wider than the screen.
  return html`<div class="scroll" role="region" aria-labelledby="${id}" tabindex="0">
    <table ${classes(columns.length > CARDS_FROM || columns.some(({ kind }) => kind === 'act') ? 'cards' : '')}>
      <thead>
        <tr>
          ${columns.map(({ label, kind }) => html`<th scope="col" ${classes(kind)}>${label}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${cells.map(
          (row) =>
            html`<tr>
              ${columns.map(({ at, label, kind }) => tableCell(row[at] ?? null, label, kind))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** On a phone, a table of this many columns still fits; each row of a wider one, or of one with actions, becomes a card. */
const CARDS_FROM = 3;

const isNumber = (value: Value): boolean =>
  typeof value === 'number' ||
  (typeof value === 'object' && value !== null && ('amount' in value || ('first' in value && isNumber(value.first))));

/** Numbers are aligned at their end. */
const kindOf = (label: string, rows: Table['rows'], at: number): string =>
  label === 'actions' ? 'act' : rows.every((row) => row[at] === null || isNumber(row[at])) ? 'number' : '';

/** What has more characters than an amount or a reference goes over several lines. */
const ONE_LINE_MAX = 24;

function tableCell(content: Html | null, label: string, kind: string): Html {
  if (content === null) return html`<td ${classes(kind, 'empty')}>–</td>`;
  const isLong = content.html.replaceAll(/<[^>]*>/g, '').trim().length > ONE_LINE_MAX;
  return html`<td ${classes(kind, isLong ? 'long' : '')} data-label="${label}">${content}</td>`;
}

/** Where older ones are, after a page that may not be the last. */
export const olderLink = (path: string | null): Html =>
  path === null ? html`` : html`<p>${link(path, 'Older ones')}</p>`;

/** What one service has to say, or that it did not answer. */
export const show = <T>(part: Answered<T>, view: (value: T) => Html): Html =>
  'silent' in part ? html`<p class="problem" role="alert">${part.silent}: this part is missing.</p>` : view(part.value);
