import { readFileSync } from 'node:fs';

const file = new URL('../../../packages/contracts/test/fixtures/webhook-urls.tsv', import.meta.url);
const escapes: Record<string, string> = { '\\t': '\t', '\\\\': '\\' };

/** The URLs of the contract's table that the policy accepts, or those it refuses. */
export const urlTable = (expected: 'accept' | 'reject'): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${expected}\t`))
    .map((line) => line.slice(expected.length + 1).replace(/\\[t\\]/g, (escape) => escapes[escape] ?? escape));
