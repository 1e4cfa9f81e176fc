import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from '@quittance/testkit/eventually.ts';

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a service ends with the process that started it, however that process ends', async () => {
  const starter = fileURLToPath(new URL('fixtures/starts-a-service.ts', import.meta.url));
  const child = spawn(process.execPath, [starter], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { pid } = JSON.parse(line) as { pid: number };
  expect(isRunning(pid)).toBe(true);
  child.kill('SIGKILL');
  await eventually(() => expect(isRunning(pid)).toBe(false));
});
