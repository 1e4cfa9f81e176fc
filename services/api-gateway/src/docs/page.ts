import { createRequire } from 'node:module';
import { html, type Html } from '@quittance/checkout-page/html.ts';
import { loadAsset, type Asset } from '@quittance/checkout-page/asset.ts';
import { operationsOf, type OpenApiDocument } from './document.ts';

const require = createRequire(import.meta.url);

/** What the pages load. Swagger UI comes from its package, so that nothing is loaded from another server. */
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
 * The page that Swagger UI fills. Before that, and without script, it lists the operations, which is enough to find them in the
 * document itself. The sections have the ids that Swagger UI gives to its own.
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

/** One for each tag with its operations, and one for webhook events. */
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
