import type { Html } from '@quittance/checkout-page/html.ts';
import { ResumeOperatorSession } from '@quittance/contracts/http/api-gateway/operator-sessions.ts';
import { detailText, HttpError } from '@quittance/http/errors.ts';
import type { Reply, Route, RouteRequest } from '@quittance/http/server/route.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { page, problemPage, type Viewer } from '../pages/frame.ts';
import { formTokenOf, isFormToken, noSessionCookie, sessionIn } from '../session/cookie.ts';
import { readForm } from '../session/form.ts';
import { asNobody, asOperator, type Clients, type Services } from '../upstream/services.ts';

export type Context = { clients: Clients; logger: Logger };

/** A request of an operator who is signed in. */
export type Visit = { request: RouteRequest; viewer: Viewer; services: Services; session: string };

/** Nothing but our stylesheet loads, no script runs, no site frames a page, and its forms go to the console alone. */
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
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

/** A page for an operator who is signed in. */
export const pageRoute = (
  context: Context,
  path: string,
  show: (visit: Visit) => Promise<{ title: string; content: Html }>,
): Route =>
  visitRoute(context, 'GET', path, async (visit) => {
    const { title, content } = await show(visit);
    return htmlReply(200, page(title, visit.viewer, content));
  });

/** What a form of a page does. `act` returns where to go then. */
export const actionRoute = (
  context: Context,
  path: string,
  act: (visit: Visit, form: URLSearchParams) => Promise<string | Reply>,
): Route =>
  visitRoute(context, 'POST', path, async (visit) => {
    const form = await readForm(visit.request);
    if (!isFormToken(visit.session, form.get('form_token') ?? ''))
      throw new HttpError(403, 'This form is from an earlier session: open the page again');
    const next = await act(visit, form);
    return typeof next === 'string' ? goTo(next) : next;
  });

function visitRoute(
  context: Context,
  method: 'GET' | 'POST',
  path: string,
  answer: (visit: Visit) => Promise<Reply>,
): Route {
  const { clients, logger } = context;
  const handle = async (request: RouteRequest): Promise<Reply> => {
    let viewer: Viewer | null = null;
    try {
      const session = sessionIn(request);
      if (session === null) return goTo('/sign-in');
      const { name, role, token } = await asNobody(clients).call(ResumeOperatorSession, { body: { session } });
      viewer = { name, role, formToken: formTokenOf(session) };
      return await answer({ request, viewer, services: asOperator(clients, token), session });
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
export function problemReply(error: unknown, viewer: Viewer | null, logger: Logger): Reply {
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
