import { html, type Html } from '@quittance/checkout-page/html.ts';
import { ConfirmRequest, StartConfirmation } from '@quittance/contracts/http/api-gateway/passkeys.ts';
import { ResumeOperatorSession, type ConsoleAudience } from '@quittance/contracts/http/api-gateway/people.ts';
import { detailText, HttpError } from '@quittance/http/errors.ts';
import type { TrustedProxies } from '@quittance/http/server/client-address.ts';
import { pathParameter, type Reply, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import { Wrong, type Kind } from '@quittance/operator/field.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { isMerchantPerson } from '@quittance/contracts/principal.ts';
import { page, problemPage, type AnyViewer, type MerchantViewer, type Viewer } from './frame.ts';
import type { Explorer } from './explorer.ts';
import { answerIn, PASSKEY_FIELD, passkeyForm } from './passkey-form.ts';
import { asNobody, asOperator, NeedsConfirmation, type Clients, type Services } from './services.ts';
import { formTokenOf, isFormToken, noSessionCookie, readForm, sessionIn } from './session.ts';
import { MERCHANT_START } from './cell.ts';

export type Context = {
  clients: Clients;
  logger: Logger;
  audience: ConsoleAudience;
  /** The host name that passkeys of this console belong to; '' for none. */
  passkeysFor: string;
  /** Whose word counts for where a request comes from. */
  trustedProxies: TrustedProxies;
  explorer: Explorer;
};

/** A request of a signed-in person: an operator by default. */
export type Visit<V extends AnyViewer = Viewer> = {
  request: RouteRequest;
  viewer: V;
  services: Services;
  session: string;
};

/** Nothing but our stylesheet and script loads, no site frames a page, and its forms go to the console alone. */
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Without a referrer, browsers would not say either where a form was sent from.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

export const htmlReply = (status: number, body: string, headers: Record<string, string> = {}): Reply => ({
  status,
  body,
  headers: { ...pageHeaders, ...headers },
});

/** What a browser saves as a file. */
export const fileReply = (body: unknown, name: string, contentType: string): Reply => ({
  status: 200,
  body,
  headers: {
    'content-type': contentType,
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  },
});

export const goTo = (path: string, headers: Record<string, string> = {}): Reply =>
  htmlReply(303, '', { ...headers, location: path });

/** A part of the path. @throws HttpError 404 for one that names nothing. */
export function inPath<T>({ params }: RouteRequest, name: string, kind: Kind<T>, notFound: string): T {
  try {
    return kind(pathParameter(params, name));
  } catch (error) {
    throw error instanceof Wrong ? new HttpError(404, notFound) : error;
  }
}

/** A page for an operator who is signed in. */
export const pageRoute = (
  context: Context,
  path: string,
  show: (visit: Visit) => Promise<{ title: string; content: Html }>,
): Route => visitRoute(context, 'GET', path, isOperator, (visit) => shown(visit, show));

/** A page. @property headers besides our own. */
type Shown = { title: string; content: Html; headers?: Record<string, string> };

async function shown<V extends AnyViewer>(visit: Visit<V>, show: (visit: Visit<V>) => Promise<Shown>): Promise<Reply> {
  const { title, content, headers } = await show(visit);
  return htmlReply(200, page(title, visit.viewer, content), headers);
}

/** What a form of a page does. `act` returns where to go then. */
export const actionRoute = (
  context: Context,
  path: string,
  act: (visit: Visit, form: URLSearchParams) => Promise<string | Reply>,
): Route => formRoute(context, path, isOperator, act);

export const isOperator = (viewer: AnyViewer): viewer is Viewer => !isMerchantPerson(viewer);
export const isMerchant = (viewer: AnyViewer): viewer is MerchantViewer => isMerchantPerson(viewer);
export const isAnybody = (viewer: AnyViewer): viewer is AnyViewer => isOperator(viewer) || isMerchant(viewer);

/** As actionRoute(), for any kind of person. */
export const formRoute = <V extends AnyViewer>(
  context: Context,
  path: string,
  isFor: (viewer: AnyViewer) => viewer is V,
  act: (visit: Visit<V>, form: URLSearchParams) => Promise<string | Reply>,
): Route =>
  visitRoute(context, 'POST', path, isFor, async (visit) => {
    const form = await readForm(visit.request);
    if (!isFormToken(visit.session, form.get('form_token') ?? ''))
      throw new HttpError(403, 'This form is from an earlier session: open the page again');
    try {
      const next = await act(await confirmed(context, visit, form), form);
      return typeof next === 'string' ? goTo(next) : next;
    } catch (error) {
      if (error instanceof NeedsConfirmation) return confirmPage(context, visit, form, error.requestHash);
      throw error;
    }
  });

/** The fields of a confirmation, which the form of the action does not know. */
const HASH_FIELD = 'request_hash';
const confirming = [HASH_FIELD, PASSKEY_FIELD];

/** With the passkey's answer in the form, the services as a person who has confirmed one request. */
async function confirmed<V extends AnyViewer>(
  { clients }: Context,
  visit: Visit<V>,
  form: URLSearchParams,
): Promise<Visit<V>> {
  const hash = form.get(HASH_FIELD);
  if (hash === null) return visit;
  const body = { session: visit.session, request_hash: hash, answer: answerIn(form) };
  const { token } = await asNobody(clients).call(ConfirmRequest, { body });
  return { ...visit, services: asOperator(clients, token) };
}

/** Where the browser is, as the calls that begin with a passkey take it. */
export const atConsole = (rpId: string): { rp_id?: string } => (rpId === '' ? {} : { rp_id: rpId });

/** Asks for a passkey, and sends the same form again with it. */
export async function confirmPage<V extends AnyViewer>(
  { clients, passkeysFor }: Context,
  { request, viewer, session }: Visit<V>,
  form: URLSearchParams,
  hash: string,
): Promise<Reply> {
  const { options } = await asNobody(clients).call(StartConfirmation, {
    body: { session, request_hash: hash, ...atConsole(passkeysFor) },
  });
  const query = request.query.toString();
  const content = html`<p>
      This touches money, keys or people, so your device asks for your passkey. Nothing has been done yet.
    </p>
    ${passkeyForm({
      ...{ action: request.path + (query === '' ? '' : `?${query}`), kind: 'get', options, label: 'Use your passkey' },
      hidden: [...[...form].filter(([name]) => !confirming.includes(name)), [HASH_FIELD, hash]],
    })}
    <p><a href="/">Do nothing</a></p>`;
  return htmlReply(200, page('Confirm with your passkey', viewer, content));
}

/** A page for another kind of person is 404: operators' pages for merchants, and merchants' pages for operators. */
export function visitRoute<V extends AnyViewer>(
  context: Context,
  method: 'GET' | 'POST',
  path: string,
  isFor: (viewer: AnyViewer) => viewer is V,
  answer: (visit: Visit<V>) => Promise<Reply>,
): Route {
  const { clients, logger, audience, explorer } = context;
  const handle = async (request: RouteRequest): Promise<Reply> => {
    let viewer: AnyViewer | null = null;
    try {
      const session = sessionIn(request);
      if (session === null) return goTo('/sign-in');
      const {
        token,
        expires_in: _,
        ...resumed
      } = await asNobody(clients).call(ResumeOperatorSession, {
        body: { session },
      });
      const { account_role: accountRole, passkeys = null, ...person } = resumed;
      if (audience === 'merchants' && !isMerchantPerson(person)) throw new HttpError(401, 'Not for operators');
      const look = { formToken: formTokenOf(session), path: request.path, explorer, passkeys, accountRole };
      const seen: AnyViewer = { ...person, ...look };
      viewer = seen;
      if (path === '/' && isMerchant(seen)) return goTo(MERCHANT_START);
      if (!isFor(seen)) throw new HttpError(404, 'Not found');
      return await answer({ request, viewer: seen, services: asOperator(clients, token), session });
    } catch (error) {
      // A session that is over, or a token that lapsed while the page was made.
      if (error instanceof HttpError && error.status === 401)
        return goTo('/sign-in', { 'set-cookie': noSessionCookie });
      return problemReply(error, viewer, logger);
    }
  };
  return { method, path, handle };
}

/** A person gets a page whatever happens, never JSON. */
export function problemReply(error: unknown, viewer: AnyViewer | null, logger: Logger): Reply {
  if (!(error instanceof HttpError)) {
    logger.error({ error }, 'a page could not be shown');
    return htmlReply(500, problemPage('Something went wrong', viewer, 'The log of the console says what.'));
  }
  const { status, detail, headers } = error;
  const title = titles[status] ?? 'This was refused';
  // Of an outage, the client names the service.
  return htmlReply(status, problemPage(title, viewer, status >= 500 ? error.message : detailText(detail)), headers);
}

const titles: Record<number, string> = {
  403: 'Not allowed',
  404: 'Not found',
  422: 'This cannot be right',
  429: 'Too many attempts',
  503: 'A service does not answer',
};

export type OwnVisit = Visit<MerchantViewer>;

/** A page for a merchant's people. */
export const ownPage = (context: Context, path: string, show: (visit: OwnVisit) => Promise<Shown>): Route =>
  visitRoute(context, 'GET', path, isMerchant, (visit) => shown(visit, show));

/** The merchant that every one of their calls names. */
export const paramsOf = ({ merchant_id }: MerchantViewer) => ({ params: { merchant_id } });
