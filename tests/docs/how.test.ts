import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';

const folder = join(repositoryRoot, 'docs', 'how');
const pages = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);

/** Paths in backticks. Those with a placeholder or a wildcard are examples. */
const pathsIn = (page: string): string[] =>
  [...page.matchAll(/`((?:packages|services|infra|docs|tests|k8s)\/[^`\s]*)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => !/[<*…]/.test(path));

test.each(pages)('%s names files that exist', (_, page) => {
  expect(pathsIn(page).filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([]);
});

test('add-a-field.md names every place of a field', () => {
  const page = pages.find(([name]) => name === 'add-a-field.md')?.[1] ?? '';
  const named = pathsIn(page);
  const places = execFileSync('git', ['grep', '-l', 'return_url', '--', 'services', 'packages'], {
    cwd: repositoryRoot,
  })
    .toString()
    .trim()
    .split('\n')
    .filter((path) => !/\/test\/|\.test\./.test(path));
  expect(places.length).toBeGreaterThan(5);
  expect(
    places.filter((path) => !named.some((name) => path === name || (name.endsWith('/') && path.startsWith(name)))),
  ).toEqual([]);
});
