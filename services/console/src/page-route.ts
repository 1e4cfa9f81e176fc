import type { Html } from '@quittance/checkout-page/html.ts';
import { ResumeOperatorSession, type ConsoleAudience } from '@quittance/contracts/http/api-gateway/people.ts';
import { detailText, HttpError } from '@quittance/http/errors.ts';
import type { TrustedProxies } from '@quittance/http/server/client-address.ts';
import { pathParameter, type Reply, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import { Wrong, type Kind } from '@quittance/operator/field.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { isMerchantPerson } from '@quittance/contracts/principal.ts';
import { page, problemPage, type AnyViewer, type MerchantViewer, type Viewer } from './frame.ts';
import type { Explorer } from './explorer.ts';
import { asNobody, asOperator, type Clients, type Services } from './services.ts';
import { formTokenOf, isFormToken, noSessionCookie, readForm, sessionIn } from './session.ts';
import { MERCHANT_HOME } from './cell.ts';

export type Context = {
  clients: Clients;
  logger: Logger;
  audience: ConsoleAudience;
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

async function shown<V extends AnyViewer>(
  visit: Visit<V>,
  show: (visit: Visit<V>) => Promise<{ title: string; content: Html }>,
): Promise<Reply> {
  const { title, content } = await show(visit);
  return htmlReply(200, page(title, visit.viewer, content));
}

/** What a form of a page does. `act` returns where to go then. */
export const actionRoute = (
  context: Context,
  path: string,
  act: (visit: Visit, form: URLSearchParams) => Promise<string | Reply>,
): Route => formRoute(context, path, isOperator, act);

const isOperator = (viewer: AnyViewer): viewer is Viewer => !isMerchantPerson(viewer);
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
    const next = await act(visit, form);
    return typeof next === 'string' ? goTo(next) : next;
  });

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
        ...person
      } = await asNobody(clients).call(ResumeOperatorSession, {
        body: { session },
      });
      if (audience === 'merchants' && !isMerchantPerson(person)) throw new HttpError(401, 'Not for operators');
      const seen: AnyViewer = { ...person, formToken: formTokenOf(session), path: request.path, explorer };
      viewer = seen;
      if (path === '/' && isMerchant(seen)) return goTo(MERCHANT_HOME);
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
export const ownPage = (
  context: Context,
  path: string,
  show: (visit: OwnVisit) => Promise<{ title: string; content: Html }>,
): Route => visitRoute(context, 'GET', path, isMerchant, (visit) => shown(visit, show));

/** The merchant that every one of their calls names. */
export const paramsOf = ({ merchant_id }: MerchantViewer) => ({ params: { merchant_id } });
