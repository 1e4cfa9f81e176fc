import { accessSync, constants, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderMarkdown, type MarkdownPage } from '@quittance/markdown/markdown.ts';

/** One page of the site. */
export type GuidePage = MarkdownPage & { path: string };

const docsFolder = fileURLToPath(new URL('../../../../docs', import.meta.url));
const index = 'guide/README.md';

/** Files that the site has under a name of its own, as docs/ reaches them. */
const addresses: Record<string, string> = {
  [index]: '/docs',
  '../packages/sdk/README.md': '/docs/sdk',
  'webhooks.md': '/docs/receiving-webhooks',
  'openapi.yaml': '/docs/api',
  'vectors/webhook-signatures.json': '/docs/webhook-signatures.json',
};

/** @throws Error when docs/guide is not there to be read. */
export const requireGuide = (): void => accessSync(join(docsFolder, index), constants.R_OK);

export const readSignatures = (): string => readFileSync(join(docsFolder, 'vectors/webhook-signatures.json'), 'utf8');

/** Every page in the order of the index, which comes first. */
export function readGuide(): GuidePage[] {
  const listed = [...read(index).matchAll(/^- \[[^\]]+\]\(([^)]+\.md)\)/gm)].map(([, href = '']) =>
    fileOf(index, href),
  );
  return [index, ...listed].map((file) => ({
    path: addressOf(file) ?? '',
    ...renderMarkdown(read(file), (href) => followed(file, href)),
  }));
}

const read = (file: string): string => readFileSync(join(docsFolder, file), 'utf8');

/** From docs/, for a link in a file that may lie outside. */
const fileOf = (from: string, href: string): string => posix.join(dirname(from), href).replace(/^\.\.\/docs\//, '');

/** Where the site has a file; null for one that only the repository has. */
const addressOf = (file: string): string | null =>
  addresses[file] ?? (/^guide\/[\w-]+\.md$/.test(file) ? `/docs/${posix.basename(file, '.md')}` : null);

function followed(from: string, href: string): string | null {
  if (/^(?:#|https:)/.test(href)) return href;
  const [file = '', fragment] = href.split('#');
  const address = addressOf(fileOf(from, file));
  return address !== null && fragment !== undefined ? `${address}#${fragment}` : address;
}
