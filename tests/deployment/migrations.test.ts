import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const repository = new URL('../../', import.meta.url);
const later = globSync('{packages,services}/*/migrations/*.sql', { cwd: fileURLToPath(repository) }).filter(
  (path) => !path.includes('/0001_'),
);

test('there are migrations after the baselines', () => {
  expect(later.length).toBeGreaterThan(0);
});

test.each(later)('%s blocks no writer of a table in use', (path) => {
  const statements = readFileSync(new URL(path, repository), 'utf8')
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim().toLowerCase().replaceAll(/\s+/g, ' '))
    .filter((statement) => statement !== '');
  const made = statements.flatMap((statement) => /^create table (\w+)/.exec(statement)?.[1] ?? []);
  for (const statement of statements) {
    const index = /^create (?:unique )?index (concurrently )?\w+ on (\w+)/.exec(statement);
    if (index === null || made.includes(index[2] ?? '')) continue;
    // It runs outside a transaction, so it must be the only statement of its file.
    expect({ statement, isConcurrent: index[1] !== undefined, alone: statements.length === 1 }).toEqual({
      ...{ statement, isConcurrent: true, alone: true },
    });
  }
});
