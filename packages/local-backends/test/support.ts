import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isAlive } from '../src/orphans.ts';

/** The directory of unpacked programs that all tests and the stack of this checkout share. */
export const toolsDirectory = fileURLToPath(new URL('../../../.local/tools', import.meta.url));

/** A directory for one test file; remove it with `remove`. */
export async function temporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), `quittance-test-${process.pid}-backend-`));
  await chmod(path, 0o711);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Limited by the test's own time limit. */
export async function untilDead(pid: number): Promise<void> {
  while (await isAlive(pid)) await delay(20);
}
