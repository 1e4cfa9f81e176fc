import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startChild } from '../src/child.ts';
import { endOrphan, isAlive, writePidFile } from '../src/orphans.ts';
import { temporaryDirectory, untilDead } from './support.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => directory.remove());

const sleeper = (logFile: string) => ({ name: 'sleeper', command: '/bin/sleep', args: ['1000'], logFile });

test('a child ends with the process that started it, even when that is killed, and its temporary data is removed', async () => {
  const data = join(directory.path, 'data');
  await mkdir(data);
  const childModule = fileURLToPath(new URL('../src/child.ts', import.meta.url));
  const options = { ...sleeper(join(directory.path, 'sleeper.log')), temporaryDirectory: data };
  const script = `
    import { startChild } from ${JSON.stringify(childModule)};
    const child = await startChild(${JSON.stringify(options)});
    console.log(child.pid);`;
  const parent = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const [output] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(output.toString());
  expect(await isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await untilDead(pid);
  while (existsSync(data)) await new Promise((resolve) => setTimeout(resolve, 20));
});

test('the output of a command that ends early is kept for the error message', async () => {
  const child = await startChild({
    ...sleeper(join(directory.path, 'early.log')),
    command: '/bin/sh',
    args: ['-c', 'echo starting; echo "FATAL: no room"; exit 3'],
  });
  expect(await child.exited).toBe('sleeper ended with exit code 3');
  expect(child.lastWords()).toContain('FATAL: no room');
  expect(child.lastWords()).not.toContain('starting');
});

test('a command that does not exist is a plain error', async () => {
  const missing = { ...sleeper(join(directory.path, 'missing.log')), command: '/nonexistent/program' };
  await expect(startChild(missing)).rejects.toThrow('sleeper cannot be started');
});

test('a left-over process is ended only when its command line names its directory', async () => {
  const child = await startChild(sleeper(join(directory.path, 'orphan.log')));
  const pidFile = join(directory.path, 'orphan.pid');
  await writePidFile(pidFile, child.pid);
  await endOrphan(pidFile, '/some/other/directory');
  expect(child.running()).toBe(true);
  await writePidFile(pidFile, child.pid);
  await endOrphan(pidFile, 'sleep 1000');
  expect(await child.exited).toBe('sleeper ended on SIGTERM');
  await expect(readFile(pidFile)).rejects.toThrow('ENOENT');
});
