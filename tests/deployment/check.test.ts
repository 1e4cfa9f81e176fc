import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { readConfig, serviceSettings } from '../../packages/ops/src/config.ts';
import { base, external, readCompose, single } from './support/compose.ts';
import { makeEnvironment } from './support/environment-file.ts';

const environment = makeEnvironment();
const checkOf = (...files: string[]) => readCompose(files, environment).services['check']!;

describe('the check container', () => {
  test('has the URL of every service and the key of ops, and nothing else', () => {
    const told = checkOf(base).environment!;
    const { urls, signingKey, amqpUrl } = readConfig(told, '/nonexistent');
    expect(Object.values(urls)).not.toContain('');
    expect([signingKey, amqpUrl]).toEqual([environment['OPS_SIGNING_KEY'], '']);
    const known = [...Object.values(serviceSettings), 'SIGNING_KEY', 'INTERNAL_TOKEN'];
    expect(Object.keys(told).sort()).toEqual(known.sort());
    // The URLs that ops uses.
    const ops = readCompose([base], environment).services['ops']!.environment;
    expect(ops).toMatchObject(told);
  });

  test('runs wherever the services run, without a profile, and reaches only them', () => {
    for (const files of [[base], [base, external], [base, external, single]]) {
      const { profiles, networks } = checkOf(...files);
      expect([profiles, networks]).toEqual([undefined, { backend: {} }]);
    }
  });

  test('starts once all services answer, or the one process that runs all of them', () => {
    const { depends_on: waits = {} } = checkOf(base);
    expect(Object.keys(waits).sort()).toEqual([...serviceNames].sort());
    const { depends_on: inOne = {}, environment: told = {}, image } = checkOf(base, single);
    expect(image).toBe(readCompose([base, single], environment).services['single']!.image);
    const needed = Object.keys(inOne).filter((name) => inOne[name]!.required !== false);
    expect(needed).toEqual(['single']);
    for (const setting of Object.values(serviceSettings)) expect(told[setting]).toMatch(/^http:\/\/single:808\d$/);
  });
});

describe('the command that it runs', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quittance-check-'));
  });
  let group: number | null = null;
  afterEach(async () => {
    // If the shell is process 1, the engine ends the processes that it leaves.
    if (group !== null) process.kill(-group, 'SIGKILL');
    group = null;
    await rm(directory, { recursive: true });
  });

  /** A program that replaces one of the image. */
  const program = async (name: string, script: string): Promise<void> => {
    await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(directory, name), 0o755);
  };
  const linesOf = async (name: string): Promise<string[]> =>
    (await readFile(join(directory, name), 'utf8').catch(() => '')).split('\n').slice(0, -1);

  function start() {
    const [shell = '', ...words] = checkOf(base).command!;
    const env = { PATH: `${directory}:${process.env['PATH'] ?? ''}`, OUT: directory };
    const child = spawn(shell, words, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    group = child.pid!;
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
    return { child, output: () => output };
  }

  test('reports a check every six hours, continues when one fails, and logs the output of each', async () => {
    await program('touch', ':');
    await program('ops', 'echo "$*" >> "$OUT/runs"; echo a rule is broken; echo no answer >&2; exit 1');
    // The third pause never ends.
    await program('sleep', 'echo "$1" >> "$OUT/pauses"; test $(wc -l < "$OUT/pauses") -lt 3 || exec tail -f /dev/null');
    const { child, output } = start();
    await eventually(async () => expect(await linesOf('pauses')).toHaveLength(3));
    expect(await linesOf('runs')).toEqual(Array(3).fill('check --report'));
    expect(await linesOf('pauses')).toEqual(Array(3).fill(String(6 * 3600)));
    await eventually(async () => {
      expect(output().match(/a rule is broken\n/g)).toHaveLength(3);
      expect(output().match(/no answer\n/g)).toHaveLength(3);
    });
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  test('is healthy while a check has started within the last pause and a margin', () => {
    const { command = [], healthcheck } = checkOf(base);
    const [, file, pause = ''] = /touch (\S+);.* sleep (\d+) /.exec(command.at(-1)!) ?? [];
    const [, looked, minutes = ''] = /find (\S+) -mmin -(\d+)\)/.exec(healthcheck!.test!.at(-1)!) ?? [];
    expect(looked).toBe(file);
    expect(Number(minutes) * 60).toBeGreaterThanOrEqual(Number(pause) + 3600);
  });

  test('ends at once when it is stopped during a check', async () => {
    await program('touch', ':');
    await program('ops', 'echo began; exec tail -f /dev/null');
    const { child, output } = start();
    await eventually(async () => expect(output()).toBe('began\n'));
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
