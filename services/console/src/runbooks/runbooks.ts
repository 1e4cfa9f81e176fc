import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderMarkdown, type MarkdownPage } from '@quittance/markdown/markdown.ts';
import type { Html } from '@quittance/checkout-page/html.ts';

const docsFolder = fileURLToPath(new URL('../../../../docs', import.meta.url));

/** As links name them from docs/: what to do for each alert, and the operators' page that they refer to. */
const operatorsPage = 'operator.md';

/** The texts that the console has: docs/runbooks and docs/operator.md as they are, with links that stay within it. */
export type Runbooks = {
  /** By the last segment of its address; the index is ''. */
  page(name: string): MarkdownPage | null;
  /** The section that has this heading. @throws Error for one that is not there. */
  section(place: Place): Html;
};

/** A section of a page. */
export type Place = { page: string; heading: string };

/** Reads all of them, once. @throws Error where docs/ is not there. */
export function readRunbooks(): Runbooks {
  const files = [operatorsPage, ...readdirSync(join(docsFolder, 'runbooks')).map((name) => `runbooks/${name}`)];
  const texts = new Map(files.map((file) => [file, readFileSync(join(docsFolder, file), 'utf8')]));
  const pages = new Map(
    [...texts].map(([file, text]) => [nameOf(file), renderMarkdown(text, (href) => followed(texts, file, href))]),
  );
  return {
    page: (name) => pages.get(name) ?? null,
    section({ page, heading }) {
      const [file, text] = [...texts].find(([path]) => nameOf(path) === page) ?? ['', ''];
      const found = text.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`));
      if (found === undefined) throw new Error(`the runbook ${page} has no section ${heading}`);
      return renderMarkdown(found, (href) => followed(texts, file, href)).content;
    },
  };
}

const nameOf = (file: string): string => (file === 'runbooks/README.md' ? '' : basename(file, '.md'));

export const addressOf = ({ page, heading }: Place): string => `/runbooks/${page}#${heading.toLowerCase()}`;

/** Where a link in a text leads to here; null for what only the repository has. */
function followed(texts: ReadonlyMap<string, string>, from: string, href: string): string | null {
  if (href.startsWith('https:')) return href;
  const [path = '', fragment] = href.split('#');
  const file = path === '' ? from : posix.join(dirname(from), path);
  if (!texts.has(file)) return null;
  return `/runbooks${nameOf(file) === '' ? '' : `/${nameOf(file)}`}${fragment === undefined ? '' : `#${fragment}`}`;
}
