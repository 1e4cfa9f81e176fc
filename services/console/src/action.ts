import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { Author } from '@quittance/contracts/author.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import type { Route, RouteRequest } from '@quittance/http/server/route.ts';
import { Wrong, type Field, type Form, type Raw } from '@quittance/operator/field.ts';
import { questionOf, sentence, type Done, type Row } from '@quittance/operator/row.ts';
import { filled, link } from './cell.ts';
import { form, page, type Viewer } from './frame.ts';
import { actionRoute, htmlReply, pageRoute, type Context, type Visit } from './page-route.ts';
import { textIn } from './session.ts';
import { capital, render } from './view.ts';

/** The audit's column has room for so much. */
const REASON_MAX = 1000;

type Values = Record<string, unknown>;
/** Carries out the form. @returns the next page, or an answer to show once. */
type Act = (visit: Visit, values: Values, author: Author) => Promise<string | Done>;

/** The page that asks and the form that acts, for a row. The services decide who may. */
export const actionRoutes = (context: Context, row: Row, act: Act = actOf(row)): Route[] =>
  routesOf(context, pageOf(row).path, () => row, act);

/** The same for several rows; the last part of the path names the row. */
export const actionsAt = (context: Context, path: string, rows: readonly Row[]): Route[] => {
  const chosen = (request: RouteRequest): Row => {
    const found = rows.find((row) => row.page?.path === path.replace(':action', request.params['action'] ?? ''));
    if (found === undefined) throw new HttpError(404, 'Not found');
    return found;
  };
  return routesOf(context, path, chosen, (visit, ...given) => actOf(chosen(visit.request))(visit, ...given));
};

const routesOf = (context: Context, path: string, rowFor: (request: RouteRequest) => Row, act: Act): Route[] => [
  pageRoute(context, path, async ({ request, services, viewer }) => {
    const row = rowFor(request);
    const asked = await questionOf(row, valuesIn(row, request, null), services);
    const question = typeof asked === 'function' ? await asked() : (asked ?? '');
    const fields = Object.entries(row.fields).map(([name, field]) => fieldInput(name, field, request.query.get(name)));
    return { title: pageOf(row).label, content: confirmation(viewer, row, request, html`${question}`, fields) };
  }),
  actionRoute(context, path, async (visit, given) => {
    const row = rowFor(visit.request);
    const { label, back, isSecret = false } = pageOf(row);
    const author = authorIn(visit, given);
    const done = await act(visit, valuesIn(row, visit.request, given), author);
    if (typeof done === 'string') return done;
    const path_ = filled(back, visit.request.params);
    if (!isSecret) return path_;
    const content = html`<p>Copy it now: only a hash is stored, and no page shows it again.</p>
      ${render(done.view(), visit.viewer)}
      <p>${link(path_, 'I have copied it: go back')}</p>`;
    return htmlReply(200, page(label, visit.viewer, content));
  }),
];

export const authorIn = ({ viewer }: Visit, given: URLSearchParams): Author => ({
  actor: viewer.name,
  reason: textIn(given, 'reason', REASON_MAX),
});

const actOf =
  ({ send, command }: Row): Act =>
  ({ services }, values, author) => {
    if (send === undefined) throw new Error(`${command} makes no call`);
    return send(services, values, author);
  };

function pageOf({ page: shown, command }: Row) {
  if (shown === undefined) throw new Error(`${command} has no page`);
  return shown;
}

/** Asks before something is changed, and why: the audit has the reason next to the operator's name. */
export function confirmation(
  viewer: Viewer,
  row: Row,
  { params, query }: RouteRequest,
  question: Html,
  more: Html[],
): Html {
  const { path, label, back, isDanger = false } = pageOf(row);
  // What the path does not say, and no field asks, stays in the query.
  const kept = new URLSearchParams([...query].filter(([name]) => row.fields[name]?.form === undefined)).toString();
  return html`<p>${question}</p>
    ${form(
      filled(path, params) + (kept === '' ? '' : `?${kept}`),
      viewer,
      html`${more}<label for="reason">Why, for the audit</label>
        <input id="reason" name="reason" required maxlength="${String(REASON_MAX)}" autocomplete="off" />
        <div class="actions">
          <button class="${isDanger ? 'danger' : ''}">${label}</button> <a href="${filled(back, params)}">Do nothing</a>
        </div>`,
    )}`;
}

/** The values of a row: parts of the path, and what the form gives. @throws HttpError 404 for a path that names nothing. */
function valuesIn(row: Row, { params }: RouteRequest, given: URLSearchParams | null): Values {
  const entries = Object.entries(row.fields).map(([name, field]): [string, unknown] => {
    const inPath = params[name];
    if (inPath !== undefined) return [name, readOr(field, inPath, () => new HttpError(404, 'Not found'))];
    if (given === null || field.form === undefined) return [name, undefined];
    return [name, readOr(field, rawIn(given, name, field), (reason) => invalid({ field: name, reason }))];
  });
  return Object.fromEntries(entries);
}

function readOr(field: Field<unknown>, raw: Raw, problem: (reason: string) => Error): unknown {
  try {
    return field.read(raw);
  } catch (error) {
    throw error instanceof Wrong ? problem(error.message) : error;
  }
}

/** The text of a field. An empty one changes nothing. */
function rawIn(given: URLSearchParams, name: string, field: Field<unknown>): Raw {
  const text = (given.get(name) ?? '').trim();
  if (field.form?.input === 'check') return text === 'yes' ? true : undefined;
  if (given.get(`no_${name}`) === 'yes') {
    if (text !== '') throw invalid({ field: name, reason: 'must be empty where there is none' });
    return 'none';
  }
  if (text !== '' || !field.required) return text === '' ? undefined : textWithin(given, name, field.form);
  throw invalid({ field: name, reason: 'must be given' });
}

const textWithin = (given: URLSearchParams, name: string, asked: Form | undefined): string =>
  asked?.input === 'text' ? textIn(given, name, asked.max ?? REASON_MAX) : (given.get(name) ?? '').trim();

/** @param filledIn the value that a link has set. */
function fieldInput(
  name: string,
  { form: asked, help, required, choices = [] }: Field<unknown>,
  filledIn: string | null,
): Html {
  if (asked === undefined) return html``;
  const label = html`<label for="${name}">${asked.label ?? capital(help)}</label>`;
  const described = asked.label === undefined ? [] : html` aria-describedby="${name}-help"`;
  const below = asked.label === undefined ? [] : html`<p class="help" id="${name}-help">${sentence(capital(help))}</p>`;
  const must = required ? html` required` : [];
  if (asked.input === 'select')
    return html`${label}
      <select id="${name}" name="${name}" ${described}>
        ${options(choices, '', asked.names)}
      </select>
      ${below}`;
  if (asked.input === 'check') return checkBox(name, capital(help));
  if (asked.input === 'text')
    return html`${label}
      <input
        id="${name}"
        name="${name}"
        value="${filledIn ?? ''}"
        ${must}
        maxlength="${String(asked.max)}"
        autocomplete="off"
        ${described}
      />
      ${below}`;
  const none = `no_${name}`;
  const noneBox = asked.none === undefined ? [] : checkBox(none, asked.none);
  return html`${label}
    <input
      id="${name}"
      name="${name}"
      type="number"
      min="0"
      max="${String(asked.max)}"
      inputmode="numeric"
      autocomplete="off"
      ${must}
      ${described}
    />
    ${below} ${noneBox}`;
}

const checkBox = (name: string, label: string): Html =>
  html`<label class="check"><input type="checkbox" name="${name}" value="yes" /> ${label}</label>`;

/** Options of a select. @param names of those that are not called by their value. */
export const options = (values: readonly string[], chosen: string, names: Record<string, string> = {}): Html[] =>
  values.map((value) => {
    const selected = value === chosen ? html` selected` : [];
    return html`<option value="${value}" ${selected}>${names[value] ?? value}</option>`;
  });
