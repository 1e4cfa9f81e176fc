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

/** A process that finds these programs and no other, because what a test changes in its environment does not reach what it starts. */
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
  test('takes it from packages where it has them, even if an engine answers', async () => {
    const found = { 'apt-get': 'exit 0', 'dpkg-deb': 'exit 0', docker: 'echo 26.1.5' };
    expect(await ask('debian', found)).toEqual(['packages']);
  });

  test('without packages takes a container', async () => {
    expect(await ask('engine', { docker: 'echo 26.1.5' })).toEqual(['engine']);
  });

  test('is told what to do when it has no packages, and Docker without an engine', async () => {
    const [source, ...told] = await ask('bare', { docker: 'exit 1' });
    expect(source).toBe('null');
    expect(told[0]).toContain('no rabbitmq-server');
    expect(told.slice(1).map((line) => line.slice(0, 12))).toEqual(['  - install ', '  - start Do', '  - name a R']);
  });
});
