import { expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { mutated } from './mutant.ts';
import { sqlMutants } from './mutants.ts';

const read = (path: string): Promise<string> => readFile(join(repositoryRoot, path), 'utf8');

const all = sqlMutants.flatMap((group) => group.mutants.map((mutant) => ({ group, mutant })));

test('each SQL mutant changes one place of its present file', async () => {
  expect(all.length).toBeGreaterThanOrEqual(137);
  for (const { group, mutant } of all) {
    const text = await read(group.file);
    expect(mutated(text, mutant)).not.toBe(text);
  }
});

test('the tests that must fail exist by that name', async () => {
  const missing: string[] = [];
  for (const { group, mutant } of all) {
    if (!('noticedBy' in mutant)) continue;
    const tests = await read(mutant.tests ?? group.tests);
    missing.push(...[mutant.noticedBy].flat().filter((name) => !tests.includes(name)));
  }
  expect(missing).toEqual([]);
});

test('a text that is missing, or is there twice, is an error', () => {
  const mutant = { breaks: 'x', before: 'and a', after: '', changesNothing: '' };
  expect(() => mutated('where b', mutant)).toThrow('is 0 times in the file instead of once: and a');
  expect(() => mutated('and a and a', mutant)).toThrow('is 2 times');
});
