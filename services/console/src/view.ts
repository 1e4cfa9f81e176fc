import { html, type Html } from '@quittance/checkout-page/html.ts';
import { parseAddress } from '@quittance/contracts/address.ts';
import { isId, parseTransactionId } from '@quittance/contracts/ids.ts';
import { mayCall } from '@quittance/contracts/principal.ts';
import { rowOf } from '@quittance/operator/table.ts';
import {
  isTime,
  shortTime,
  type Action,
  type Candidates,
  type Part,
  type Share,
  type Table,
  type Value,
  type View,
} from '@quittance/operator/view.ts';
import type { AnyViewer } from './frame.ts';
import type { Part as Answered } from './services.ts';

/** Where the payments of a merchant's people are; nothing else of theirs has an address of its own. */
export const MERCHANT_HOME = '/my/payments';

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
  return part.rows.length === 0 ? html`<p class="none">None.</p>` : grid(id, part, viewer);
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

/** The table alone. A column of actions is only there for those who have one. @param id of its heading. */
export function grid(id: string, { labels, rows }: Table, viewer: AnyViewer): Html {
  const cells = rows.map((row) => row.map((value) => cell(value, viewer)));
  const shown = labels.flatMap((label, at) =>
    label === 'actions' && cells.every((row) => row[at] === null) ? [] : [at],
  );
  // Scrolled by keyboard too, where it is wider than the screen.
  return html`<div class="scroll" role="region" aria-labelledby="${id}" tabindex="0">
    <table>
      <thead>
        <tr>
          ${shown.map((at) => html`<th scope="col">${capital(labels[at] ?? '')}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${cells.map(
          (row) =>
            html`<tr>
              ${shown.map((at) => tableCell(row[at] ?? html`<span class="none">–</span>`))}
            </tr>`,
        )}
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

/** One value; null where there is nothing to show. */
export function cell(value: Value, viewer: AnyViewer): Html | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return textCell(value, viewer);
  if (typeof value !== 'object') return html`${typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)}`;
  if (isList(value)) return html`${value.map((one) => cell(one, viewer) ?? html``)}`;
  if ('badge' in value) return html`<span class="badge" data-is="${value.badge}">${value.badge}</span>`;
  if ('to' in value) return link(value.to, value.label);
  if ('action' in value) return actionLink(value, viewer);
  if ('used' in value) return bar(value);
  return possible(value, viewer);
}

const isList = (value: object): value is readonly Value[] => Array.isArray(value);

/** A time, or an id of something that has a page for this person. */
function textCell(text: string, viewer: AnyViewer): Html {
  if (isTime(text)) return html`<time datetime="${text}">${shortTime(text)}</time>`;
  const path = viewer.role === 'merchant' ? ownPath(text) : pathOf(text);
  return path === null ? html`${text}` : link(path, text);
}

const ownPath = (text: string): string | null => (isId('pay', text) ? `${MERCHANT_HOME}/${text}` : null);

function pathOf(text: string): string | null {
  if (isId('pay', text)) return `/payments/${text}`;
  if (isId('mer', text)) return `/merchants/${text}`;
  if (/^[0-9a-f]{64}$/.test(text) && parseTransactionId(text) !== null) return `/payments?q=${text}`;
  return /^(0x[\da-f]{40}|T\w{33})$/i.test(text) && parseAddress(text) !== null ? `/wallets/${text}` : null;
}

/** The payments that a transfer may be for. Only a single one is named as if it were certain. */
function possible({ candidates, candidates_elsewhere: elsewhere = false }: Candidates, viewer: AnyViewer): Html {
  const [only, ...others] = candidates;
  if (only === undefined) return html`May be for a payment of another merchant`;
  const more = elsewhere ? ', also for a payment of another merchant' : '';
  if (others.length === 0)
    return elsewhere ? html`May be for ${textCell(only, viewer)}${more}` : textCell(only, viewer);
  return html`May be for ${String(candidates.length)} payments${more} ${candidateList(candidates, viewer)}`;
}

export const candidateList = (candidates: readonly string[], viewer: AnyViewer): Html =>
  html`<ul class="candidates">
    ${candidates.map((id) => html`<li>${textCell(id, viewer)}</li>`)}
  </ul>`;

const BAR_WIDTH = 120;

function bar({ label: name, used, limit }: Share): Html {
  const share = limit === 0 ? 1 : Math.min(1, used / limit);
  const label = `${name}: ${Math.round(share * 100)} %`;
  return html`<svg role="img" aria-label="${label}" width="${String(BAR_WIDTH)}" height="12">
    <title>${label}</title>
    <rect class="room" width="${String(BAR_WIDTH)}" height="12" rx="3"></rect>
    <rect class="used" width="${String(Math.round(share * BAR_WIDTH))}" height="12" rx="3"></rect>
  </svg>`;
}

/** The link to a command, for roles that may run it. */
function actionLink({ action, label, values }: Action, viewer: AnyViewer): Html | null {
  const path = mayAct(action, viewer) ? actionPath(action, values) : null;
  return path === null ? null : link(path, label);
}

export const mayAct = (command: string, viewer: AnyViewer): boolean => {
  const { role } = rowOf(command);
  return viewer.role !== 'merchant' && role !== null && mayCall(viewer, role);
};

/** The page of a row, with these values. @returns null for a row without one. */
export function actionPath(command: string, values: Readonly<Record<string, string>>): string | null {
  // If the payment is not known, the person chooses it first.
  if (command === 'transfer accept' && values['payment_id'] === '')
    return `/transfers/${values['transaction_id']}/${values['index']}/accept`;
  const { page } = rowOf(command);
  if (page === undefined) return null;
  const inPath = (name: string) => page.path.split('/').includes(`:${name}`);
  const query = new URLSearchParams(Object.entries(values).filter(([name]) => !inPath(name))).toString();
  return filled(page.path, values) + (query === '' ? '' : `?${query}`);
}

/** A path with its parameters filled in. */
export const filled = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));

/** A link within the console. @param path of pieces that are ours; whatever else is in it must be encoded. */
export const link = (path: string, text: string): Html => html`<a href="${path}">${text}</a>`;

/** Where older ones are, after a page that may not be the last. */
export const olderLink = (path: string | null): Html =>
  path === null ? html`` : html`<p>${link(path, 'Older ones')}</p>`;

/** What one service has to say, or that it did not answer. */
export const show = <T>(part: Answered<T>, view: (value: T) => Html): Html =>
  'silent' in part ? html`<p class="problem" role="alert">${part.silent}: this part is missing.</p>` : view(part.value);
