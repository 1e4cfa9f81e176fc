import { loadAsset } from '@quittance/checkout-page/asset.ts';
import { html, type Html } from '@quittance/checkout-page/html.ts';
import { ReadOperatorAudit } from '@quittance/contracts/http/api-gateway/people.ts';
import { mayCall, type Operator, type MerchantPerson } from '@quittance/contracts/principal.ts';

/** The console's one file, read once at start. */
export const stylesheet = loadAsset(new URL('assets/console.css', import.meta.url));

/** Who looks at a page, and what that person's forms carry. */
export type Viewer = Operator & { formToken: string };

/** The same of a merchant's person. */
export type MerchantViewer = MerchantPerson & { formToken: string };
export type AnyViewer = Viewer | MerchantViewer;

/** What a merchant's people see of their own data. Nothing else is there for them. */
const merchantSections = [
  ['/my/payments', 'Payments'],
  ['/my/transfers', 'Transfers'],
  ['/my/webhooks', 'Webhooks'],
  ['/my/limits', 'Limits'],
  ['/my/report', 'Report'],
] as const;

const sections = [
  ['/', 'Overview'],
  ['/payments', 'Payments'],
  ['/transfers', 'Transfers'],
  ['/merchants', 'Merchants'],
  ['/webhooks', 'Webhooks'],
  ['/networks', 'Networks'],
] as const;

/** For those who may look at accounts of operators. */
const adminSections = [...sections, ['/operators', 'Operators']] as const;

const sectionsOf = ({ role }: AnyViewer) =>
  role === 'merchant'
    ? merchantSections
    : mayCall({ name: '', role }, ReadOperatorAudit.access)
      ? adminSections
      : sections;

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
      </head>
      <body>
        ${viewer === null ? [] : header(viewer, title)}
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `.html;
}

function header(viewer: AnyViewer, title: string): Html {
  const links = sectionsOf(viewer).map(([path, name]) => {
    const current = name === title ? html` aria-current="page"` : [];
    return html`<li><a href="${path}" ${current}>${name}</a></li>`;
  });
  return html`<header>
    <nav aria-label="Console">
      <ul>
        ${links}
      </ul>
    </nav>
    <div class="viewer">
      <span>@${viewer.name}, ${viewer.role}</span>
      ${form('/sign-out', viewer, html`<button>Sign out</button>`)}
      ${form('/sign-out?everywhere=yes', viewer, html`<button>Sign out everywhere</button>`)}
    </div>
  </header>`;
}

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
