import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { parse } from 'yaml';
import { ownEnvironment } from '../support/journey-stack.ts';

type Workflow = { jobs: { benchmarks: { strategy: { matrix: { benchmark: string[] } } } } };

const main = join(import.meta.dirname, 'main.ts');

async function bench(...words: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [main, ...words], {
    env: ownEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, output: out + errors };
}

test('a smoke run of all benchmarks passes', async () => {
  const { code, output } = await bench('--smoke');
  expect(output).not.toContain(' failed');
  expect({ code, output }).toMatchObject({ code: 0 });
}, 1_800_000);

test.each(['chaos', 'catch-up'])(
  'a smoke run of %s, which runs only when it is named, passes',
  async (name) => {
    const { code, output } = await bench(name, '--smoke');
    expect(output).not.toContain(' failed');
    expect({ code, output }).toMatchObject({ code: 0 });
  },
  600_000,
);

test('the help names every benchmark, every part and the options', async () => {
  const { code, output } = await bench('--help');
  expect(code).toBe(0);
  for (const name of [
    ...['catch-up', 'chain', 'chaos', 'creation', 'growth', 'reads', 'settlement', 'webhooks'],
    ...['catching-up', 'console', 'endurance', 'gateway', 'lists', 'memory', 'providers', 'relay', 'statements'],
    ...['--rounds', '--smoke', '--part', '--payments'],
  ]) {
    expect(output).toContain(`  ${name}`);
  }
});

test('each part is in the run without names, or runs at night', async () => {
  const { output } = await bench('--help');
  const help = output.replaceAll(/\s+/g, ' ');
  const short = /half an hour: ([\w, ]+)\./.exec(help)![1]!.split(', ');
  expect(short).toEqual(['chain', 'creation', 'memory', 'gateway', 'settlement', 'relay', 'webhooks']);
  const workflow = parse(readFileSync(join(repositoryRoot, '.github/workflows/check.yml'), 'utf8')) as Workflow;
  const atNight = workflow.jobs.benchmarks.strategy.matrix.benchmark;
  const benchmarks = [...help.matchAll(/([\w-]+) [A-Z][^?]*\? Parts: ([\w, -]+)\./g)];
  const parts = benchmarks.flatMap(([, benchmark, names]) => names!.split(', ').map((part) => [benchmark, part]));
  expect(parts).toEqual(expect.arrayContaining([...atNight, ...short].map((name) => expect.arrayContaining([name]))));
  expect(parts.filter((names) => !names.some((name) => short.includes(name!) || atNight.includes(name!)))).toEqual([]);
});

test('a part runs by its own name, and an unknown part is refused with those there are', async () => {
  const { code, output } = await bench('relay', '--part', 'rates', '--smoke');
  expect(code).toBe(1);
  expect(output).toContain('there is no part rates; there are: relay');
});
