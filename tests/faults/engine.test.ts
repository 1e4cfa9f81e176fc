import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const program = `
  const { fault } = await import(process.argv[1]);
  const choice = { seed: 1, runs: null, path: null, part: null, from: null };
  console.log(JSON.stringify(await fault.run({ ...choice, say: () => undefined, onEnd: () => undefined })));`;

test('if no engine answers and none can be started, the engine fault says that it was skipped, and why', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quittance-no-engine-'));
  try {
    // An engine that does not answer, and a user who is not root.
    for (const [name, script] of [
      ['docker', 'exit 1'],
      ['id', 'echo 1000'],
    ] as const) {
      await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
      await chmod(join(folder, name), 0o755);
    }
    // A separate process, because a test's changes of its environment don't reach the programs that it starts.
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` };
    const words = ['--input-type=module', '-e', program, join(import.meta.dirname, 'engine.fault.ts')];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, words, { env });
    const skipped = expect.stringContaining('no container engine answers');
    expect(JSON.parse(stdout)).toEqual({ broken: [], lines: [], skipped });
    expect(stderr).toContain('only root can shut an engine into namespaces');
  } finally {
    await rm(folder, { recursive: true });
  }
});
