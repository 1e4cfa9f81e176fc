import { accessSync, constants, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { dirname, join, posix } from 'node:path';
import { renderMarkdown, type MarkdownPage } from '@quittance/checkout-page/markdown.ts';

type Operation = { operationId: string; summary: string; description: string; tags: string[] };

/** The parts of the OpenAPI document that the reference page reads; the rest is served unchanged. */
export type OpenApiDocument = {
  info: { title: string; summary: string; version: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
};

const documentFile = fileURLToPath(new URL('../../../../docs/openapi.yaml', import.meta.url));

/** @throws Error if docs/openapi.yaml cannot be read. */
export const requireOpenApi = (): void => accessSync(documentFile, constants.R_OK);

/** Reads the repository's docs/openapi.yaml. @throws Error that names the file if it is missing or invalid. */
export function readOpenApi(file = documentFile): OpenApiDocument {
  try {
    return parse(readFileSync(file, 'utf8')) as OpenApiDocument;
  } catch (error) {
    throw new Error(`The OpenAPI document ${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Every operation with its request line. */
export const operationsOf = ({ paths }: OpenApiDocument): (Operation & { name: string })[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, name: `${method.toUpperCase()} ${path}` })),
  );

/** One page of the site. */
export type GuidePage = MarkdownPage & {
  path: string;
  /** The page as Markdown, with links to the site's other pages as Markdown. */
  markdown: string;
};

const docsFolder = fileURLToPath(new URL('../../../../docs', import.meta.url));
const index = 'guide/README.md';

/** Files with their own address on the site, by their path from docs/. */
const addresses: Record<string, string> = {
  [index]: '/docs',
  '../packages/sdk/README.md': '/docs/sdk',
  '../packages/mcp/README.md': '/docs/mcp',
  '../packages/integrations/medusa/README.md': '/docs/medusa',
  '../packages/integrations/vendure/README.md': '/docs/vendure',
  'webhooks.md': '/docs/receiving-webhooks',
  'openapi.yaml': '/docs/api',
  'vectors/webhook-signatures.json': '/docs/webhook-signatures.json',
};

/** @throws Error if docs/guide cannot be read. */
export const requireGuide = (): void => accessSync(join(docsFolder, index), constants.R_OK);

export const readSignatures = (): string => readFileSync(join(docsFolder, 'vectors/webhook-signatures.json'), 'utf8');

/** Every page, in the order of the index, which is the first one. */
export function readGuide(): GuidePage[] {
  const listed = [...read(index).matchAll(/^- \[[^\]]+\]\(([^)]+\.md)\)/gm)].map(([, href = '']) =>
    fileOf(index, href),
  );
  return [index, ...listed].map((file) => ({
    path: addressOf(file) ?? '',
    markdown: markdownOf(file),
    ...renderMarkdown(read(file), (href) => followed(file, href)),
  }));
}

/** With links to what programs read. A link to a file that is only in the repository becomes its text. */
const markdownOf = (file: string): string =>
  read(file).replace(
    /\[([^\]]+)\]\(([^)\s]+\.(?:md|yaml|json))(#[^)\s]*)?\)/g,
    (link, text: string, href: string, place = '') => {
      if (href.startsWith('https:')) return link;
      const address = addressOf(fileOf(file, href));
      return address === null ? text : `[${text}](${forPrograms(address)}${String(place)})`;
    },
  );

/** The address of the same page for programs. */
export const forPrograms = (address: string): string =>
  ({ '/docs': '/llms.txt', '/docs/api': '/openapi.json' })[address] ??
  (address.endsWith('.json') ? address : `${address}.md`);

const read = (file: string): string => readFileSync(join(docsFolder, file), 'utf8');

/** A link's target as a path from docs/, also for a link in a file outside docs/. */
const fileOf = (from: string, href: string): string => posix.join(dirname(from), href).replace(/^\.\.\/docs\//, '');

/** A file's address on the site; null for a file that is only in the repository. */
const addressOf = (file: string): string | null =>
  addresses[file] ?? (/^guide\/[\w-]+\.md$/.test(file) ? `/docs/${posix.basename(file, '.md')}` : null);

function followed(from: string, href: string): string | null {
  if (/^(?:#|https:)/.test(href)) return href;
  const [file = '', fragment] = href.split('#');
  const address = addressOf(fileOf(from, file));
  return address !== null && fragment !== undefined ? `${address}#${fragment}` : address;
}
