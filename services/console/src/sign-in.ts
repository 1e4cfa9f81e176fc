import {
  CloseOperatorSession,
  OpenOperatorSession,
  type OpenedSession,
  type SignInPlace,
  OpenSessionByLink,
  ResumeOperatorSession,
} from '@quittance/contracts/http/api-gateway/people.ts';
import { OpenSessionByPasskey, StartPasskeySignIn } from '@quittance/contracts/http/api-gateway/passkeys.ts';
import { detailText, HttpError } from '@quittance/http/errors.ts';
import { clientAddress } from '@quittance/http/server/client-address.ts';
import { pathParameter, type Reply, type Route, type RouteRequest } from '@quittance/http/server/route.ts';
import { linkPage, page, signInPage } from './frame.ts';
import { html } from '@quittance/checkout-page/html.ts';
import { answerIn, passkeyForm } from './passkey-form.ts';
import { atConsole, formRoute, goTo, htmlReply, isAnybody, problemReply, type Context } from './page-route.ts';
import { asNobody } from './services.ts';
import { noSessionCookie, readForm, sessionCookie } from './session.ts';

/** Every sign-in gets a new session, so a session that an attacker prepared is worthless. */
export const signInRoutes = (context: Context): Route[] => [
  { method: 'GET', path: '/sign-in', handle: () => htmlReply(200, signInPage(null, context)) },
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
  // A form and not a link: each one is an attempt, and programs follow links.
  {
    method: 'POST',
    path: '/sign-in/passkey',
    handle: async (request) => {
      try {
        await readForm(request);
        const { options } = await asNobody(context.clients).call(StartPasskeySignIn, {
          body: { ...placeOf(context, request), ...atConsole(context.passkeysFor) },
        });
        const form = passkeyForm({
          ...{ action: '/sign-in/with-passkey', kind: 'get', options, label: 'Use your passkey', hidden: [] },
        });
        return htmlReply(
          200,
          page(
            'Sign in',
            null,
            html`${form}
              <p><a href="/sign-in">Sign in another way</a></p>`,
          ),
        );
      } catch (error) {
        return signInProblem(error, context);
      }
    },
  },
  signingIn(context, '/sign-in/with-passkey', (request, form) =>
    asNobody(context.clients).call(OpenSessionByPasskey, {
      body: { answer: answerIn(form), ...placeOf(context, request) },
    }),
  ),
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
      return goTo(path === '/sign-in/link' ? await firstPage(context, session) : '/', {
        'set-cookie': sessionCookie(session),
      });
    } catch (error) {
      return signInProblem(error, context);
    }
  };
  return { method: 'POST', path, handle };
}

/** An invitation ends with a passkey. */
async function firstPage({ clients }: Context, session: string): Promise<string> {
  const { passkeys = null } = await asNobody(clients).call(ResumeOperatorSession, { body: { session } });
  return passkeys === 0 ? '/account' : '/';
}

function signInProblem(error: unknown, context: Context): Reply {
  if (error instanceof HttpError && [401, 409, 422, 429].includes(error.status))
    return htmlReply(error.status, signInPage(detailText(error.detail), context), error.headers);
  return problemReply(error, null, context.logger);
}

/** By which attempts are counted, and what the list of sessions shows. */
const placeOf = ({ audience, trustedProxies }: Context, request: RouteRequest): SignInPlace => ({
  client: clientAddress(request, trustedProxies).slice(0, 100),
  audience,
  ...browserOf(request),
});

/** As the browser names itself; nothing for one that does not, or with characters that no text has. */
function browserOf({ headers: { 'user-agent': name = '' } }: RouteRequest): { user_agent?: string } {
  const shown = name
    .replaceAll(/\P{ASCII}|\p{Cc}/gu, '')
    .trim()
    .slice(0, 200);
  return shown === '' ? {} : { user_agent: shown };
}

/** As long as a secret may be; one that is not there is wrong like any other. */
const secretOf = (text: string | null): string => (text ?? '').trim().slice(0, 255) || '-';
