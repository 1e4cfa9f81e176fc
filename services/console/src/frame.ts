import { loadAsset } from '@quittance/checkout-page/asset.ts';
import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { MerchantPerson, Operator } from '@quittance/contracts/principal.ts';
import type { Explorer } from './explorer.ts';
import { navigation, wayBack } from './navigation.ts';

const assetAt = (name: string) => loadAsset(new URL(`assets/${name}`, import.meta.url));

/** The console's files, read once at start. */
export const stylesheet = assetAt('console.css');
/** Copies ids, and shows times in the browser's zone. Pages say the same without it. */
export const script = assetAt('console.js');

/** What every page needs to be drawn: the token of its forms, which page it is, and where transactions can be looked up. */
type Look = { formToken: string; path: string; explorer: Explorer };

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
        <span>@${viewer.name}, ${viewer.role}</span>
        ${form('/sign-out', viewer, html`<button class="quiet">Sign out</button>`)}
      </div>
    </header>
    <div class="side">${navigation(viewer, 'Console')}</div>
    <main>
      ${wayBack(viewer)}
      <h1>${title}</h1>
      ${content}
    </main>
    <footer>
      <span>Times are in <span data-zone>UTC</span></span>
      ${form('/sign-out?everywhere=yes', viewer, html`<button class="quiet">Sign out everywhere</button>`)}
    </footer>
  </body>`;

/** A form that changes something. */
export const form = (action: string, { formToken }: AnyViewer, content: Html): Html =>
  html`<form method="post" action="${action}">
    <input type="hidden" name="form_token" value="${formToken}" />${content}
  </form>`;

export const signInPage = (problem: string | null): string =>
  page(
    'Sign in',
    null,
    html`${problem === null ? [] : html`<p class="problem" role="alert">${problem}</p>`}
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
        <button>Sign in</button>
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
