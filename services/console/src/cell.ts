import { html, type Html } from '@quittance/checkout-page/html.ts';
import { parseAddress } from '@quittance/contracts/address.ts';
import { isIncidentId } from '@quittance/contracts/http/incidents.ts';
import { isId, parseTransactionId } from '@quittance/contracts/ids.ts';
import { mayCall } from '@quittance/contracts/principal.ts';
import { rowOf } from '@quittance/operator/table.ts';
import {
  isTime,
  type Action,
  type Amount,
  type Candidates,
  type OnChain,
  type Pair,
  type Share,
  type Value,
} from '@quittance/operator/view.ts';
import type { AnyViewer } from './frame.ts';
import { toneOf } from './tone.ts';

/** Where the payments of a merchant's people are; nothing else of theirs has an address of its own. */
export const MERCHANT_HOME = '/my/payments';
export const MERCHANT_START = '/my';

/** How much room a value has: `full` in a list of facts, `short` in a table, where ids are cut. */
export type Room = 'full' | 'short';

/** One value; null where there is nothing to show. */
export function cell(value: Value, viewer: AnyViewer, room: Room = 'full'): Html | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return textCell(value, viewer, room);
  if (typeof value === 'boolean') return html`${value ? 'yes' : 'no'}`;
  if (typeof value === 'number') return html`${value.toLocaleString('en')}`;
  if (isList(value)) return listCell(value, viewer, room);
  if ('badge' in value) return badgeOf(value.badge);
  if ('to' in value) return link(value.to, room === 'short' ? shortened(value.label) : value.label);
  if ('action' in value) return actionLink(value, viewer);
  if ('used' in value) return bar(value);
  if ('amount' in value) return amountCell(value);
  if ('hash' in value) return onChainCell(value, viewer, room);
  if ('first' in value) return pairCell(value, viewer, room);
  return possible(value, viewer, room);
}

function listCell(values: readonly Value[], viewer: AnyViewer, room: Room): Html | null {
  const shown = values.map((one) => cell(one, viewer, room));
  return shown.every((one) => one === null) ? null : html`${shown.map((one) => one ?? html``)}`;
}

const isList = (value: object): value is readonly Value[] => Array.isArray(value);

export const badgeOf = (word: string): Html => html`<span class="badge ${toneOf(word)}">${word}</span>`;

/** "1,234.50 USDT". */
export const amountCell = ({ amount, currency }: Amount): Html =>
  html`<span class="amount">${grouped(amount)}${currency === null ? '' : ` ${currency}`}</span>`;

/** With the cents that people expect, and more digits where there are more. */
const grouped = (digits: string): string => {
  const [whole = '', fraction = ''] = digits.split('.');
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')}.${fraction.padEnd(2, '0')}`;
};

function pairCell({ first, second }: Pair, viewer: AnyViewer, room: Room): Html | null {
  const [over, under] = [first, second].map((one) => (one === '' ? null : cell(one, viewer, room)));
  if (!over || !under) return over ?? under ?? null;
  return html`<div>${over}</div>
    <div class="second">${under}</div>`;
}

/** The page of it here, and the one at the network's explorer. */
function onChainCell({ hash, network }: OnChain, viewer: AnyViewer, room: Room): Html {
  const url = viewer.explorer(network, hash);
  const there =
    url === null
      ? []
      : html` <a class="explorer" href="${url}" rel="noreferrer" aria-label="${hash} at the explorer">↗</a>`;
  return html`${textCell(hash, viewer, room)}${there}`;
}

const formatOf = (timeStyle: 'short' | 'medium') =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle, timeZone: 'UTC' });
const formats = { short: formatOf('short'), medium: formatOf('medium') };

/** In UTC; the script shows it in the zone of the browser. @param style `medium` has seconds. */
export const timeOf = (time: string, style: 'short' | 'medium' = 'short'): Html =>
  html`<time datetime="${time}" data-style="${style}">${formats[style].format(new Date(time))} UTC</time>`;

/** A time, or an id of something that has a page for this person. */
function textCell(text: string, viewer: AnyViewer, room: Room): Html {
  if (isTime(text)) return timeOf(text);
  const shown = room === 'short' ? shortened(text) : text;
  const path = viewer.role === 'merchant' ? ownPath(text) : pathOf(text);
  if (path === null && shown === text && !isCopied(text)) return html`${text}`;
  const title = shown === text ? [] : html` title="${text}"`;
  return html`<span class="id" data-copy="${text}" ${title}>${path === null ? shown : link(path, shown)}</span>`;
}

/** What people take elsewhere: a credential, an address of a page. */
const isCopied = (text: string): boolean =>
  idOf(text) !== null || /^(q[kromsl]|whsec)_[\w+/-]{20,}=?$|^https?:\/\/\S+$/.test(text);

/** What kind of id a text is; null for any other text. */
function idOf(text: string): 'id' | 'transaction' | 'wallet' | 'incident' | null {
  if (isIncidentId(text)) return 'incident';
  if ((['pay', 'mer', 'evt', 'whk'] as const).some((prefix) => isId(prefix, text))) return 'id';
  if (/^[0-9a-f]{64}$/.test(text) && parseTransactionId(text) !== null) return 'transaction';
  return /^(0x[\da-f]{40}|T\w{33})$/i.test(text) && parseAddress(text) !== null ? 'wallet' : null;
}

/**
 * Enough of an id to tell it from others: our ids begin with their time, so only their end differs. Of hashes and addresses more is shown
 * than four characters of each end, because addresses are forged that agree in those.
 */
function shortened(text: string): string {
  const kind = idOf(text);
  if (kind === null) return text;
  return kind === 'id' ? `${text.slice(0, 4)}…${text.slice(-8)}` : `${text.slice(0, 8)}…${text.slice(-6)}`;
}

const ownPath = (text: string): string | null => (isId('pay', text) ? `${MERCHANT_HOME}/${text}` : null);

function pathOf(text: string): string | null {
  if (isId('pay', text)) return `/payments/${text}`;
  if (isId('mer', text)) return `/merchants/${text}`;
  const kind = idOf(text);
  if (kind === 'transaction') return `/payments?q=${text}`;
  return kind === 'wallet' ? `/wallets/${text}` : null;
}

/** The payments that a transfer may be for. Only a single one is named as if it were certain. */
function possible(
  { candidates, candidates_elsewhere: elsewhere = false }: Candidates,
  viewer: AnyViewer,
  room: Room,
): Html {
  const [only, ...others] = candidates;
  if (only === undefined) return html`May be for a payment of another merchant`;
  const more = elsewhere ? ', also for a payment of another merchant' : '';
  if (others.length === 0)
    return elsewhere ? html`May be for ${textCell(only, viewer, room)}${more}` : textCell(only, viewer, room);
  return html`May be for ${String(candidates.length)} payments${more} ${candidateList(candidates, viewer)}`;
}

const candidateList = (candidates: readonly string[], viewer: AnyViewer): Html =>
  html`<ul class="candidates">
    ${candidates.map((id) => html`<li>${textCell(id, viewer, 'short')}</li>`)}
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
