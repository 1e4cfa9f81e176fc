import { html, type Html } from '@quittance/checkout-page/html.ts';
import {
  AddPasskey,
  EndSession,
  PASSKEY_NAME_MAX,
  ReadAccount,
  RemovePasskey,
  StartPasskey,
  type Passkey,
  type PersonSession,
} from '@quittance/contracts/http/api-gateway/passkeys.ts';
import { requestHash } from '@quittance/http/confirmation.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { timeOf } from './cell.ts';
import { form, page, type AnyViewer } from './frame.ts';
import {
  atConsole,
  confirmPage,
  formRoute,
  htmlReply,
  isAnybody,
  visitRoute,
  type Context,
  type Visit,
} from './page-route.ts';
import { answerIn, passkeyForm } from './passkey-form.ts';
import { textIn } from './session.ts';

/** The field of a new passkey. The one of a confirmation comes in the same form. */
const NEW_FIELD = 'new_passkey';

/** What everybody has: passkeys and sessions. */
export const accountPages = (context: Context): Route[] => [
  visitRoute(context, 'GET', '/account', isAnybody, async (visit) =>
    htmlReply(200, page('Your account', visit.viewer, await accountPage(visit))),
  ),
  formRoute(context, '/account/passkey', isAnybody, async ({ services, session, viewer }, given) => {
    const name = textIn(given, 'name', PASSKEY_NAME_MAX);
    const { options } = await services.call(StartPasskey, { body: { session, ...atConsole(context.passkeysFor) } });
    const content = html`<p>
        Your browser asks where to keep the passkey: on this device, on a phone, or on a security key.
      </p>
      ${passkeyForm({
        ...{ action: '/account/passkeys', kind: 'create', options, label: 'Create the passkey', answer: NEW_FIELD },
        hidden: [
          ['form_token', viewer.formToken],
          ['name', name],
        ],
      })}
      <p><a href="/account">Do nothing</a></p>`;
    return htmlReply(200, page('Add a passkey', viewer, content));
  }),
  formRoute(context, '/account/passkeys', isAnybody, async ({ services, session }, given) => {
    const body = { session, name: textIn(given, 'name', PASSKEY_NAME_MAX), answer: answerIn(given, NEW_FIELD) };
    await services.call(AddPasskey, { body });
    return '/account';
  }),
  formRoute(context, '/account/remove-passkey', isAnybody, async ({ services, session }, given) => {
    await services.call(RemovePasskey, { body: { session, id: textIn(given, 'id', 1400) } });
    return '/account';
  }),
  formRoute(context, '/account/end-session', isAnybody, async ({ services, session }, given) => {
    await services.call(EndSession, { body: { session, id: textIn(given, 'id', 16) } });
    return '/account';
  }),
  // A confirmation of nothing: it shows who uses the session.
  formRoute(context, '/account/use-passkey', isAnybody, async (visit, given) =>
    given.has('request_hash') ? '/' : confirmPage(context, visit, given, requestHash('POST', visit.request.path, '')),
  ),
];

async function accountPage({ services, session, viewer }: Visit<AnyViewer>): Promise<Html> {
  const { passkeys, sessions } = await services.call(ReadAccount, { body: { session } });
  return html`<section>
      <h2>Passkeys</h2>
      ${viewer.passkeys === null ? html`<p>Passkeys are off in this installation.</p>` : passkeyPart(passkeys, viewer)}
    </section>
    <section>
      <h2>Where you are signed in</h2>
      ${sessions.map((one) => sessionPart(one, viewer))}
      ${form('/sign-out?everywhere=yes', viewer, html`<button>Sign out everywhere</button>`)}
    </section>`;
}

const passkeyPart = (passkeys: readonly Passkey[], viewer: AnyViewer): Html =>
  html`<p>
      A passkey is kept by your device, which opens it with your fingerprint, face or PIN. You sign in with it, and
      confirm with it what touches money, keys or people.
    </p>
    ${passkeys.map(
      ({ id, name, created_at: created, last_used_at: used }) =>
        html`<div class="card">
          <strong>${name}</strong>
          <p class="quiet-text">Added ${timeOf(created)}${used === null ? [] : html`, last used ${timeOf(used)}`}</p>
          ${form(
            '/account/remove-passkey',
            viewer,
            html`<input type="hidden" name="id" value="${id}" /><button class="quiet">Remove ${name}</button>`,
          )}
        </div>`,
    )}
    ${form(
      '/account/passkey',
      viewer,
      html`<label for="name">${passkeys.length === 0 ? 'Name of your first passkey' : 'Name of another passkey'}</label>
        <input
          id="name"
          name="name"
          required
          maxlength="${String(PASSKEY_NAME_MAX)}"
          placeholder="My phone"
          autocomplete="off"
        />
        <button>Add a passkey</button>`,
    )}`;

const sessionPart = (
  {
    id,
    current,
    created_at: created,
    last_seen_at: seen,
    client,
    user_agent: browser,
    has_passkey: proven,
  }: PersonSession,
  viewer: AnyViewer,
): Html =>
  html`<div class="card">
    <strong>${current ? 'This session' : (client ?? 'Unknown address')}</strong>
    <p class="quiet-text">
      ${browser ?? 'Unknown browser'}${current && client !== null ? `, from ${client}` : ''}<br />
      Since ${timeOf(created)}, last used ${timeOf(seen)}${proven ? ', with a passkey' : ''}
    </p>
    ${
      current
        ? []
        : form(
            '/account/end-session',
            viewer,
            html`<input type="hidden" name="id" value="${id}" /><button class="quiet">
                End the session from ${client ?? 'an unknown address'}
              </button>`,
          )
    }
  </div>`;
