import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { ChainStatus } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { renderMarkdown, type MarkdownPage } from '@quittance/checkout-page/markdown.ts';
import { pageRoute, type Context } from './page-route.ts';

const docsFolder = fileURLToPath(new URL('../../../docs', import.meta.url));

/** As links name them from docs/: what to do for each alert, and the operators' pages that they refer to. */
const operatorsPages = ['operator.md', 'operator-tasks.md'];

/** The texts that the console has: docs/runbooks and the pages of operators as they are, with links that stay within it. */
export type Runbooks = {
  /** By the last segment of its address; the index is ''. */
  page(name: string): MarkdownPage | null;
  /** The section that has this heading. @throws Error for one that is not there. */
  section(place: Place): Html;
};

/** A section of a page. */
type Place = { page: string; heading: string };

/** Reads all of them, once. @throws Error where docs/ is not there. */
export function readRunbooks(): Runbooks {
  const files = [...operatorsPages, ...readdirSync(join(docsFolder, 'runbooks')).map((name) => `runbooks/${name}`)];
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

/** The runbooks as pages. The heading of a page is its title, so it is not repeated. */
export function runbookRoutes(context: Context, runbooks: Runbooks): Route[] {
  const shown = (name: string) => {
    const page = runbooks.page(name);
    if (page === null) throw new HttpError(404, 'Runbook not found');
    const text = { html: page.content.html.replace(/^\s*<h1[^>]*>.*?<\/h1>/s, '') };
    return Promise.resolve({ title: page.title, content: html`<article class="text">${text}</article>` });
  };
  return [
    pageRoute(context, '/runbooks', () => shown('')),
    pageRoute(context, '/runbooks/:name', ({ request }) => shown(pathParameter(request.params, 'name'))),
  ];
}

const chains = (heading: string): Place => ({ page: 'chain-watcher', heading });

/** The section with the instructions for each kind. */
const ofKinds: Record<string, Place> = {
  paid_transfer_gone: { page: 'payments', heading: 'PaymentIncident' },
  fork_below_finalized: chains('ChainHalted'),
  transfer_missed: chains('ChainTransferMissed'),
};

/** @param kind of an incident; most are dealt with in one section. */
export const placeForIncident = (kind: string): Place => ofKinds[kind] ?? chains('ChainIncident');

/** Longer than this behind its head, a network is not followed as it should be. */
const BEHIND_SECONDS = 120;

/** How a network is doing, and the section for that, where something is to be done. */
export function stateOf(chain: ChainStatus): { state: string; place: Place | null } {
  if (chain.halted_at !== null) return { state: 'halted', place: chains('ChainHalted') };
  if (chain.asleep) return { state: 'asleep', place: null };
  if ((chain.lag_seconds ?? 0) > BEHIND_SECONDS) return { state: 'behind', place: chains('ChainScanBehind') };
  return { state: 'following', place: chain.scan_error ? chains('ChainScanStandsStill') : null };
}
