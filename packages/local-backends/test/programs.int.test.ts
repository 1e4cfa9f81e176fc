import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const program = `
  const { requirePrograms, sourceOf } = await import(process.argv[1]);
  console.log(await sourceOf('rabbitmq-server', process.argv[2]));
  await requirePrograms(['rabbitmq-server'], process.argv[2]).catch(({ message }) => console.log(message));`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quittance-programs-'));
});
afterAll(() => rm(folder, { recursive: true }));

/**
 * Runs a process that finds these programs and no others. A separate process, because a change of the test's own
 * environment doesn't affect the programs it starts.
 */
async function ask(name: string, found: Record<string, string>): Promise<string[]> {
  const path = await mkdtemp(join(folder, `${name}-`));
  await symlink('/bin/sh', join(path, 'sh'));
  for (const [command, script] of Object.entries(found)) {
    await writeFile(join(path, command), `#!/bin/sh\n${script}\n`);
    await chmod(join(path, command), 0o755);
  }
  const words = [
    '--input-type=module',
    '-e',
    program,
    join(import.meta.dirname, '../src/programs.ts'),
    join(path, 'tools'),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, words, { env: { PATH: path } });
  return stdout.trim().split('\n');
}

describe('a machine without RabbitMQ', () => {
  test('uses packages if it has them, even if an engine answers', async () => {
    const found = { 'apt-get': 'exit 0', 'dpkg-deb': 'exit 0', docker: 'echo 26.1.5' };
    expect(await ask('debian', found)).toEqual(['packages']);
  });

  test('uses a container if it has no packages', async () => {
    expect(await ask('engine', { docker: 'echo 26.1.5' })).toEqual(['engine']);
  });

  test('gets an error that says what to do when it has no packages, and Docker without an engine', async () => {
    const [source, ...told] = await ask('bare', { docker: 'exit 1' });
    expect(source).toBe('null');
    expect(told[0]).toContain('no rabbitmq-server');
    expect(told.slice(1).map((line) => line.slice(0, 12))).toEqual(['  - install ', '  - start Do', '  - name a R']);
  });
});
