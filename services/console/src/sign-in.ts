import {
  CloseOperatorSession,
  OpenOperatorSession,
  type OpenedSession,
  type SignInPlace,
  OpenSessionByLink,
} from '@quittance/contracts/http/api-gateway/people.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { clientAddress } from '@quittance/http/server/client-address.ts';
import { pathParameter, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import { linkPage, signInPage } from './frame.ts';
import { formRoute, goTo, htmlReply, isAnybody, problemReply, type Context } from './page-route.ts';
import { asNobody } from './services.ts';
import { noSessionCookie, readForm, sessionCookie } from './session.ts';

/** Every sign-in gets a new session, so a session that an attacker prepared is worthless. */
export const signInRoutes = (context: Context): Route[] => [
  { method: 'GET', path: '/sign-in', handle: () => htmlReply(200, signInPage(null)) },
  signingIn(context, '/sign-in', async (request, form) => {
    const credential = secretOf(form.get('credential'));
    return asNobody(context.clients).call(OpenOperatorSession, { body: { credential, ...placeOf(context, request) } });
  }),
  // Looking at it uses nothing up: programs that scan mails follow links.
  {
    method: 'GET',
    path: '/sign-in/link/:link',
    handle: ({ params }) => htmlReply(200, linkPage(pathParameter(params, 'link'))),
  },
  signingIn(context, '/sign-in/link', async (request, form) => {
    const link = secretOf(form.get('link'));
    return asNobody(context.clients).call(OpenSessionByLink, { body: { link, ...placeOf(context, request) } });
  }),
  formRoute(context, '/sign-out', isAnybody, async ({ services, session, request }) => {
    await services.call(CloseOperatorSession, {
      body: { session, everywhere: request.query.get('everywhere') === 'yes' },
    });
    return goTo('/sign-in', { 'set-cookie': noSessionCookie });
  }),
];

/** Opens a new session. The sign-in page shows what is wrong. */
function signingIn(
  context: Context,
  path: string,
  open: (request: RouteRequest, form: URLSearchParams) => Promise<OpenedSession>,
): Route {
  const handle = async (request: RouteRequest) => {
    try {
      const { session } = await open(request, await readForm(request));
      return goTo('/', { 'set-cookie': sessionCookie(session) });
    } catch (error) {
      if (error instanceof HttpError && (error.status === 401 || error.status === 429))
        return htmlReply(error.status, signInPage(error.message), error.headers);
      return problemReply(error, null, context.logger);
    }
  };
  return { method: 'POST', path, handle };
}

/** By which attempts are counted. */
const placeOf = ({ audience, trustedProxies }: Context, request: RouteRequest): SignInPlace => ({
  client: clientAddress(request, trustedProxies).slice(0, 100),
  audience,
});

/** As long as a secret may be; one that is not there is wrong like any other. */
const secretOf = (text: string | null): string => (text ?? '').trim().slice(0, 255) || '-';
