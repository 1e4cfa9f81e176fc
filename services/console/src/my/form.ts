import { html, type Html } from '@quittance/checkout-page/html.ts';
import { mayAct, type MerchantRole } from '@quittance/contracts/principal.ts';
import { detailText, HttpError, invalid } from '@quittance/http/errors.ts';
import type { Reply, Route } from '@quittance/http/server/route.ts';
import { options } from '../action.ts';
import { form, page } from '../frame.ts';
import { formRoute, htmlReply, isMerchant, ownPage, type Context, type OwnVisit } from '../page-route.ts';

/** A form of a merchant's people, with the page that it is on. */
type OwnForm = {
  path: string;
  title: string;
  role: MerchantRole;
  /** The page below the problem, if there is one. @param given what was sent and refused; empty at first. */
  show(visit: OwnVisit, given: URLSearchParams): Promise<Html> | Html;
  /** @returns where to go then, or what to show once. */
  act(visit: OwnVisit, given: URLSearchParams): Promise<string | Html>;
};

/** Refusals that a person can put right in the form. */
const mendable = [404, 409, 422, 429, 503];

/** The page and what its form does. What is refused is shown with everything that was typed. */
export const ownForm = (context: Context, { path, title, role, show, act }: OwnForm): Route[] => [
  ownPage(context, path, async (visit) => {
    requireRole(visit, role);
    return { title, content: await show(visit, new URLSearchParams(visit.request.query)) };
  }),
  ownAction(context, path, async (visit, given) => {
    requireRole(visit, role);
    try {
      const next = await act(visit, given);
      return typeof next === 'string' ? next : htmlReply(200, page(title, visit.viewer, next));
    } catch (error) {
      if (!(error instanceof HttpError) || !mendable.includes(error.status)) throw error;
      const problem = html`<p class="problem" role="alert">${capitalized(detailText(error.detail))}</p>`;
      const content = html`${problem} ${await show(visit, given)}`;
      return htmlReply(error.status, page(title, visit.viewer, content), error.headers);
    }
  }),
];

/** What a button does that has no page of its own. */
export const ownAction = (
  context: Context,
  path: string,
  act: (visit: OwnVisit, given: URLSearchParams) => Promise<string | Reply>,
): Route => formRoute(context, path, isMerchant, act);

/** The services decide too. This says it before anything is typed. @throws HttpError 403. */
function requireRole({ viewer }: OwnVisit, role: MerchantRole): void {
  if (!mayAct(viewer, role)) throw new HttpError(403, `This needs the role ${role}`);
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A form that is sent to a path. @param content fields. */
export const fieldsForm = (visit: OwnVisit, path: string, content: readonly Html[], label: string): Html =>
  form(
    path,
    visit.viewer,
    html`${content}
      <div class="actions"><button>${label}</button></div>`,
  );

/** A button that does one thing. @param values what it is about. */
export const button = (
  { viewer }: Pick<OwnVisit, 'viewer'>,
  path: string,
  label: string,
  values: Record<string, string> = {},
  kind: 'plain' | 'danger' = 'plain',
): Html =>
  form(
    path,
    viewer,
    html`${Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
      <button class="${kind === 'danger' ? 'danger' : 'quiet'}">${label}</button>`,
  );

type Text = {
  name: string;
  label: string;
  value: string | null;
  help?: string;
  type?: 'text' | 'number' | 'url' | 'email' | 'password';
  isRequired?: boolean;
  maxLength?: number;
};

const helpOf = (name: string, help: string | undefined): Html =>
  help === undefined ? html`` : html`<p class="help" id="${name}-help">${help}</p>`;
const describedBy = (name: string, help: string | undefined): Html =>
  help === undefined ? html`` : html`aria-describedby="${name}-help"`;

export const textField = ({
  name,
  label,
  value,
  help,
  type = 'text',
  isRequired = false,
  maxLength = 500,
}: Text): Html =>
  html`<label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${value ?? ''}"
      maxlength="${String(maxLength)}"
      autocomplete="off"
      ${describedBy(name, help)}
      ${isRequired ? html`required` : []}
    />
    ${helpOf(name, help)}`;

export const areaField = ({ name, label, value, help, isRequired = false }: Omit<Text, 'type' | 'maxLength'>): Html =>
  html`<label for="${name}">${label}</label>
    <textarea id="${name}" name="${name}" rows="4" ${describedBy(name, help)} ${isRequired ? html`required` : []}>
${value ?? ''}</textarea>
    ${helpOf(name, help)}`;

export const choiceField = (
  name: string,
  label: string,
  values: readonly string[],
  chosen: string,
  { names = {}, help }: { names?: Record<string, string>; help?: string } = {},
): Html =>
  html`<label for="${name}">${label}</label>
    <select id="${name}" name="${name}" ${describedBy(name, help)}>
      ${options(values, chosen, names)}
    </select>
    ${helpOf(name, help)}`;

export const checkField = (name: string, label: string, isChecked: boolean, value = 'yes'): Html =>
  html`<label class="check"
    ><input type="checkbox" name="${name}" value="${value}" ${isChecked ? html`checked` : []} /> ${label}</label
  >`;

/** The text of a field; null for an empty one. */
export function given(form: URLSearchParams, name: string): string | null {
  const text = (form.get(name) ?? '').trim();
  return text === '' ? null : text;
}

/** The text of a field that must be there. @throws HttpError 422 naming the field. */
export function named(form: URLSearchParams, name: string): string {
  const value = given(form, name);
  if (value === null) throw invalid({ field: name, reason: 'is required' });
  return value;
}
