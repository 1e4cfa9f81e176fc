import { createRequire } from 'node:module';
import { html, type Html } from '@quittance/checkout-page/html.ts';
import { loadAsset, type Asset } from '@quittance/checkout-page/asset.ts';
import { operationsOf, type OpenApiDocument } from './sources.ts';

const require = createRequire(import.meta.url);

/** What the pages load. Swagger UI comes from its package, so that no page loads from another server. */
export function readDocsAssets() {
  return {
    library: loadAsset(require.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
    start: loadAsset(new URL('assets/docs.js', import.meta.url)),
    libraryStyle: loadAsset(require.resolve('swagger-ui-dist/swagger-ui.css')),
    style: loadAsset(new URL('assets/docs.css', import.meta.url)),
    guideStyle: loadAsset(new URL('assets/guide.css', import.meta.url)),
  };
}

type DocsAssets = ReturnType<typeof readDocsAssets>;

/**
 * The page that Swagger UI fills. Before that, and without scripts, it lists the operations, so that readers find them in the OpenAPI document.
 * The sections have the same ids as those of Swagger UI.
 */
export function docsPage(document: OpenApiDocument, assets: DocsAssets): string {
  const { info } = document;
  const title = `${info.title} ${info.version}`;
  const sections = sectionsOf(document);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content="${info.summary}" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${pathOf(assets.libraryStyle)}" />
        <link rel="stylesheet" href="${pathOf(assets.style)}" />
        <script src="${pathOf(assets.library)}" defer></script>
        <script src="${pathOf(assets.start)}" defer></script>
      </head>
      <body>
        <nav>
          <a href="/docs">Guide</a>
          ${sections.map(({ id, name }) => html`<a href="#${id}">${name}</a>`)}
          <a href="/openapi.json">OpenAPI as JSON</a>
        </nav>
        <main id="docs">
          <h1>${title}</h1>
          <p>${info.summary}</p>
          <noscript>
            <p>
              JavaScript shows more on this page. <a href="/openapi.json">All of it is in the document, as JSON</a>.
            </p>
          </noscript>
          ${sections.map(sectionHtml)}
        </main>
      </body>
    </html> `.html;
}

const pathOf = ({ name }: Asset): string => `/docs/assets/${name}`;

type Section = { id: string; name: string; entries: { name: string; summary: string }[] };

/** A section for each tag with its operations, and one for webhook events. */
function sectionsOf(document: OpenApiDocument): Section[] {
  const { tags, webhooks } = document;
  const operations = operationsOf(document);
  const events = Object.entries(webhooks).map(([name, { post }]) => ({ ...post, name }));
  return [
    ...tags.map(({ name }) => ({
      id: `operations-tag-${name}`,
      name,
      entries: operations.filter((operation) => operation.tags.includes(name)),
    })),
    { id: `operations-webhooks-${events[0]?.operationId ?? ''}`, name: 'Events', entries: events },
  ];
}

function sectionHtml({ id, name, entries }: Section): Html {
  return html`<h2 id="${id}">${name}</h2>
    <dl>
      ${entries.map(
        (entry) =>
          html`<dt><code>${entry.name}</code></dt>
            <dd>${entry.summary}</dd>`,
      )}
    </dl>`;
}

/** A link to a page. */
export type PageLink = { path: string; title: string };

type Frame = {
  title: string;
  /** All pages of the site, in order. */
  links: readonly PageLink[];
  /** The current page; null if it is none of them. */
  path: string | null;
  /** The name of the stylesheet. */
  style: string;
  /** The searched words. */
  query?: string;
};

/** The frame of every page of the guide. It has no script: the server does everything. */
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

/** The content of a page: its headings if there are several, the text, and a link to the next page. */
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
