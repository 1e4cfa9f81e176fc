import { expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { longest } from './longest-first.ts';

test('every file in the list of the longest tests exists', () => {
  const root = join(import.meta.dirname, '..', '..');
  expect(longest.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
