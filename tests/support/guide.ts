import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { blocksIn, type CodeBlock } from './markdown-blocks.ts';

export const guideFolder = join(repositoryRoot, 'docs', 'guide');

/** The pages of docs/guide by file name. */
export const guidePages: ReadonlyMap<string, string> = new Map(
  readdirSync(guideFolder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => [name, readFileSync(join(guideFolder, name), 'utf8')]),
);

/** @throws Error if the page does not exist. */
export function codeBlocks(page: string): CodeBlock[] {
  const text = guidePages.get(page);
  if (text === undefined) throw new Error(`docs/guide has no ${page}`);
  return blocksIn(text);
}

/** Every command of the quick start, in order. */
export const shellCommands = codeBlocks('quick-start.md')
  .filter(({ language }) => language === 'sh')
  .flatMap(({ code }) => code.trim().split('\n'));
