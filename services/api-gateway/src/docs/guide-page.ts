import { html, type Html } from '@quittance/checkout-page/html.ts';

/** A way to a page. */
export type PageLink = { path: string; title: string };

type Frame = {
  title: string;
  /** Every page of the site, in its order. */
  links: readonly PageLink[];
  /** The page that is shown, where it is one of them. */
  path: string | null;
  /** The name of the stylesheet. */
  style: string;
  /** What is searched for. */
  query?: string;
};

/** The frame of every page of the guide. It has no script: whatever it does, the server does. */
export const guideDocument = ({ title, links, path, style, query = '' }: Frame, content: Html): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${path === '/docs' ? 'Quittance: guide' : `${title} · Quittance`}</title>
        <link rel="stylesheet" href="/docs/assets/${style}" />
      </head>
      <body>
        <header>
          <a class="name" href="/docs">Quittance</a>
          <form role="search" action="/docs/search">
            <input
              type="search"
              name="q"
              value="${query}"
              maxlength="100"
              placeholder="Search the guide"
              aria-label="Search the guide"
              required
            />
            <button>Search</button>
          </form>
          <a class="to-pages" href="#pages">All pages</a>
        </header>
        <main>${content}</main>
        <nav id="pages" aria-label="All pages">
          <ul>
            ${links.map(
              (link) =>
                html`<li>
                  <a href="${link.path}" ${link.path === path ? html` aria-current="page"` : []}>${link.title}</a>
                </li>`,
            )}
          </ul>
        </nav>
      </body>
    </html> `.html;

type Heading = { heading: string; id: string; depth: number };

/** What stands on a page: its headings where there are several, the text, and the way to the next page. */
export function guideContent(
  { content, sections }: { content: Html; sections: readonly Heading[] },
  next: PageLink | undefined,
): Html {
  const headings = sections.filter(({ depth }) => depth === 2);
  const contents = html`<nav class="contents" aria-label="On this page">
    <ul>
      ${headings.map(({ heading, id }) => html`<li><a href="#${id}">${heading}</a></li>`)}
    </ul>
  </nav>`;
  // Below the title, which is the first line of the text.
  const [title = '', ...rest] = content.html.split(/(?<=<\/h1>)/);
  return html`${{ html: title }}${headings.length > 2 ? contents : []}${{ html: rest.join('') }}
  ${next === undefined ? [] : html`<p class="next">Next: <a href="${next.path}">${next.title}</a></p>`}`;
}
