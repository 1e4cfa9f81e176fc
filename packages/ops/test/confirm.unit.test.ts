import { expect, test } from '@jest/globals';
import { confirm } from '../src/person.ts';
import { terminal } from './terminal.ts';

test('yes at the terminal goes ahead', async () => {
  const person = terminal('yes\n');
  await confirm('Block it?', {}, person);
  expect(String(person.stderr.read())).toContain('Block it? Type yes to go ahead: ');
});

test('anything but yes, and leaving, changes nothing', async () => {
  for (const typed of ['y\n', '\n', 'no\n']) {
    await expect(confirm('Block it?', {}, terminal(typed))).rejects.toMatchObject({ kind: 'refused' });
  }
  const gone = terminal('');
  gone.stdin.end();
  await expect(confirm('Block it?', {}, gone)).rejects.toMatchObject({ kind: 'refused' });
});

test('without a terminal --yes is required', async () => {
  await expect(confirm('Block it?', {}, terminal('yes\n', false))).rejects.toMatchObject({ kind: 'wrongUse' });
  await confirm('Block it?', { yes: true }, terminal('', false));
});
