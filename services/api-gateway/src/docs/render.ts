import { constants, setPriority } from 'node:os';
import { guideContent, guideDocument, type PageLink, docsPage, readDocsAssets } from './pages.ts';
import { forPrograms, readGuide, readSignatures, operationsOf, readOpenApi, type OpenApiDocument } from './sources.ts';
import type { Place } from './search.ts';

/** All documentation that is the same for every reader. */
export type Site = {
  /** HTML by path. */
  pages: Record<string, string>;
  /** JSON by path. */
  documents: Record<string, string>;
  /** Markdown by path. */
  texts: Record<string, string>;
  links: PageLink[];
  places: Place[];
};

function makeSite(): Site {
  const openApi = readOpenApi();
  const assets = readDocsAssets();
  const guide = readGuide();
  const reference = { path: '/docs/api', title: 'API reference' };
  const links = [...guide.map(({ path, title }) => ({ path, title })), reference];
  const pages = guide.map((page, position): [string, string] => [
    page.path,
    guideDocument({ ...page, links, style: assets.guideStyle.name }, guideContent(page, links[position + 1])),
  ]);
  return {
    pages: { ...Object.fromEntries(pages), [reference.path]: docsPage(openApi, assets) },
    documents: { '/openapi.json': JSON.stringify(openApi), '/docs/webhook-signatures.json': readSignatures() },
    texts: Object.fromEntries(
      guide.map(({ path, markdown }) => [forPrograms(path), path === '/docs' ? llmsText(openApi, markdown) : markdown]),
    ),
    links,
    places: [...placesOfGuide(guide), ...placesOfApi(openApi)],
  };
}

/** The index of the guide as an `llms.txt`. Source: llmstxt.org. */
const llmsText = ({ info }: OpenApiDocument, index: string): string =>
  `# Quittance\n\n> ${info.summary}\n\n${index.replace(/^# /, '## ')}`;

const placesOfGuide = (guide: ReturnType<typeof readGuide>): Place[] =>
  guide.flatMap(({ path, title, sections }) =>
    sections.map(({ heading, id, text }) => ({ path: `${path}#${id}`, page: title, heading, text })),
  );

const placesOfApi = (openApi: OpenApiDocument): Place[] =>
  operationsOf(openApi).map(({ name, operationId, summary, description, tags }) => ({
    path: `/docs/api#/${encodeURIComponent(tags[0] ?? '')}/${operationId}`,
    page: 'API reference',
    heading: name,
    text: `${summary}. ${description.replace(/[`*]/g, '').replace(/\s+/g, ' ')}`,
  }));

// Payments come first.
setPriority(constants.priority.PRIORITY_LOW);
process.stdout.write(JSON.stringify(makeSite()));
