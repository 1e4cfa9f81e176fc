import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ownEnvironment } from '../support/journey-stack.ts';

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

test('every benchmark still runs: a smoke run of all of them breaks nowhere', async () => {
  const { code, output } = await bench('--smoke');
  expect(output).not.toContain(' failed');
  expect({ code, output }).toMatchObject({ code: 0 });
}, 1_800_000);

test('the benchmarks name themselves and their options when asked for help', async () => {
  const { code, output } = await bench('--help');
  expect(code).toBe(0);
  for (const name of [
    'chain',
    'console',
    'creation',
    'endurance',
    'gateway',
    'growth',
    'memory',
    'providers',
    'relay',
    'settlement',
    'size',
    'webhooks',
    '--rounds',
    '--smoke',
    '--part',
    '--payments',
  ]) {
    expect(output).toContain(`  ${name}`);
  }
});
