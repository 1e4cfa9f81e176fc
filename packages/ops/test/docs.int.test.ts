import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { runOps } from './world.ts';

/** The names that a help text lists under "Commands:". */
async function commandsOf(words: string[]): Promise<string[]> {
  const { code, stdout } = await runOps([...words, '--help'], {});
  expect(code).toBe(0);
  const list = stdout.split('Commands:\n')[1]?.split('\n\n')[0] ?? '';
  const names = list.split('\n').map((line) => /^ {2}([a-z-]+)/.exec(line)?.[1]);
  return names.filter((name) => name !== undefined && name !== 'help') as string[];
}

test("the operator's page has every command, and none that does not exist", async () => {
  const page = readFileSync(new URL('../../../docs/operator.md', import.meta.url), 'utf8');
  const groups = await commandsOf([]);
  const commands = await Promise.all(
    groups.map(async (group) => (await commandsOf([group])).map((name) => `${group} ${name}`)),
  );
  const written = [...page.matchAll(/\bops ([a-z]+(?:-[a-z]+)?) ([a-z]+(?:-[a-z]+)*)/g)].map(
    ([, group, name]) => `${group} ${name}`,
  );
  expect([...new Set(written)].sort()).toEqual(commands.flat().sort());
});
