import { CloseOperatorSession, OpenOperatorSession } from '@quittance/contracts/http/api-gateway/operator-sessions.ts';
import { HttpError } from '@quittance/http/errors.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { signInPage } from '../pages/frame.ts';
import { noSessionCookie, sessionCookie } from '../session/cookie.ts';
import { readForm } from '../session/form.ts';
import { asNobody } from '../upstream/services.ts';
import { actionRoute, goTo, htmlReply, problemReply, type Context } from './page-route.ts';

/** Every sign-in gets a session of its own, so that one which somebody else prepared is worth nothing. */
export const signInRoutes = (context: Context): Route[] => [
  { method: 'GET', path: '/sign-in', handle: () => htmlReply(200, signInPage(null)) },
  {
    method: 'POST',
    path: '/sign-in',
    handle: async (request) => {
      try {
        const form = await readForm(request);
        const credential = (form.get('credential') ?? '').trim();
        const body = { credential: credential.slice(0, 255) || '-', client: request.remoteAddress };
        const { session } = await asNobody(context.clients).call(OpenOperatorSession, { body });
        return goTo('/', { 'set-cookie': sessionCookie(session) });
      } catch (error) {
        if (error instanceof HttpError && (error.status === 401 || error.status === 429))
          return htmlReply(error.status, signInPage(error.message), error.headers);
        return problemReply(error, null, context.logger);
      }
    },
  },
  actionRoute(context, '/sign-out', async ({ services, session, request }) => {
    await services.call(CloseOperatorSession, {
      body: { session, everywhere: request.query.get('everywhere') === 'yes' },
    });
    return goTo('/sign-in', { 'set-cookie': noSessionCookie });
  }),
];
