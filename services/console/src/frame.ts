import { loadAsset } from '@quittance/checkout-page/asset.ts';
import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { MerchantPerson, Operator } from '@quittance/contracts/principal.ts';
import type { Explorer } from './explorer.ts';
import { navigation, wayBack } from './navigation.ts';

const assetAt = (name: string) => loadAsset(new URL(`assets/${name}`, import.meta.url));

/** The console's files, read once at start. */
export const stylesheet = assetAt('console.css');
/** Asks the device for a passkey: without it there is none. */
export const passkeyScript = assetAt('passkeys.js');
/** Copies ids, and shows times in the browser's zone. Pages say the same without it. */
export const script = assetAt('console.js');

/** What every page needs to be drawn: the token of its forms, which page it is, and where transactions can be looked up. */
type Look = {
  formToken: string;
  path: string;
  explorer: Explorer;
  /** How many passkeys the account has; null while passkeys are off. */
  passkeys: number | null;
  /** The role of the account, which the person has only in a session with a passkey. */
  accountRole: string;
};

export type Viewer = Operator & Look;
export type MerchantViewer = MerchantPerson & Look;
export type AnyViewer = Viewer | MerchantViewer;

/** The frame of every page. @param viewer null before anybody has signed in. */
export function page(title: string, viewer: AnyViewer | null, content: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Quittance</title>
        <link rel="stylesheet" href="/assets/${stylesheet.name}" />
        <script src="/assets/${script.name}" defer></script>
        <script src="/assets/${passkeyScript.name}" defer></script>
      </head>
      ${viewer === null ? strangersBody(title, content) : body(title, viewer, content)}
    </html> `.html;
}

const strangersBody = (title: string, content: Html): Html =>
  html`<body class="alone">
    <main>
      <p class="brand">Quittance</p>
      <h1>${title}</h1>
      ${content}
    </main>
  </body>`;

/** The navigation is there twice: next to the page, and on a small screen behind a button, where no script is needed to open it. */
const body = (title: string, viewer: AnyViewer, content: Html): Html =>
  html`<body>
    <header>
      <details class="menu">
        <summary>Menu</summary>
        ${navigation(viewer, 'Menu')}
      </details>
      <a class="brand" href="/">Quittance</a>
      <div class="viewer">
        <a href="/account">@${viewer.name}, ${roleIn(viewer)}</a>
        ${form('/sign-out', viewer, html`<button class="quiet">Sign out</button>`)}
      </div>
    </header>
    <div class="side">${navigation(viewer, 'Console')}</div>
    <main>
      ${onlyLooking(viewer)} ${wayBack(viewer)}
      <h1>${title}</h1>
      ${content}
    </main>
    <footer>
      <span>Times are in <span data-zone>UTC</span></span>
      ${form('/sign-out?everywhere=yes', viewer, html`<button class="quiet">Sign out everywhere</button>`)}
    </footer>
  </body>`;

const roleIn = (viewer: AnyViewer): string => (viewer.role === 'merchant' ? viewer.merchant_role : viewer.role);

/** Says why the person may do less than the account. */
function onlyLooking(viewer: AnyViewer): Html {
  const { accountRole, passkeys, path } = viewer;
  if (accountRole === roleIn(viewer) || path.startsWith('/account')) return html``;
  if (passkeys === null)
    return html`<p class="notice">You can only look: your role needs a passkey, and passkeys are off here.</p>`;
  return passkeys === 0
    ? html`<p class="notice">You can only look until you <a href="/account">add a passkey</a>.</p>`
    : form(
        '/account/use-passkey',
        viewer,
        html`<p class="notice">
          You signed in without your passkey, so you can only look. <button>Use your passkey</button>
        </p>`,
      );
}

/** A form that changes something. */
export const form = (action: string, { formToken }: AnyViewer, content: Html): Html =>
  html`<form method="post" action="${action}">
    <input type="hidden" name="form_token" value="${formToken}" />${content}
  </form>`;

export const signInPage = (problem: string | null, { passkeysFor }: { passkeysFor: string }): string =>
  page(
    'Sign in',
    null,
    html`${problem === null ? [] : html`<p class="problem" role="alert">${problem}</p>`}
      ${
        passkeysFor !== ''
          ? html`<form method="post" action="/sign-in/passkey" class="sign-in">
                <button>Sign in with a passkey</button>
              </form>
              <p class="or">or</p>`
          : []
      }
      <form method="post" action="/sign-in" class="sign-in">
        <label for="credential">Your credential</label>
        <input
          id="credential"
          name="credential"
          type="password"
          autocomplete="current-password"
          required
          maxlength="255"
        />
        <button class="quiet">Sign in with the credential</button>
      </form>`,
  );

/** Only its button signs in. */
export const linkPage = (link: string): string =>
  page(
    'Sign in',
    null,
    html`<p>This link signs you in once. Anyone else who has it can use it before you do.</p>
      <form method="post" action="/sign-in/link" class="sign-in">
        <input type="hidden" name="link" value="${link}" />
        <button>Sign in</button>
      </form>`,
  );

export const problemPage = (title: string, viewer: AnyViewer | null, problem: string): string =>
  page(title, viewer, html`<p class="problem" role="alert">${problem}</p>`);
