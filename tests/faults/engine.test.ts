import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { fault } from './engine.fault.ts';

test('where no engine answers and none can be had, the engine fault says that it was skipped, and why', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quittance-no-engine-'));
  const path = process.env['PATH'];
  // An engine that does not answer, and a user who is not root.
  for (const [name, script] of [
    ['docker', 'exit 1'],
    ['id', 'echo 1000'],
  ] as const) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
  process.env['PATH'] = `${folder}${delimiter}${path}`;
  try {
    const choice = { seed: 1, runs: null, path: null, part: null, from: null };
    const result = await fault.run({ ...choice, say: () => undefined, onEnd: () => undefined });
    expect(result).toEqual({ broken: [], lines: [], skipped: expect.stringContaining('no container engine answers') });
  } finally {
    process.env['PATH'] = path;
    await rm(folder, { recursive: true });
  }
}, 60_000);
