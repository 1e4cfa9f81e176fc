import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { blocksIn, type CodeBlock } from './markdown-blocks.ts';

export const goLivePage = readFileSync(join(repositoryRoot, 'docs', 'go-live.md'), 'utf8');

/** What a test does with a block of commands: run it, or only check it, for a reason that the page gives. */
export function verdictOf({ title }: CodeBlock): 'run' | 'checked' | null {
  if (title === 'run') return 'run';
  return /^checked: \w+ \w+/.test(title) ? 'checked' : null;
}

export const goLiveBlocks = blocksIn(goLivePage);
