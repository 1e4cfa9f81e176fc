import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '@quittance/local-backends/orphans.ts';

/** Temporary directories of tests are called so, followed by the owner's process id. */
export const runDirectoryPrefix = 'quittance-test-';

/** Removes what runs left that were killed together with everything that would have cleaned up after them. */
export async function removeStaleRunDirectories(): Promise<void> {
  const owned = new RegExp(`^${runDirectoryPrefix}(\\d+)-`);
  for (const name of await readdir(tmpdir())) {
    const owner = owned.exec(name)?.[1];
    if (owner && !(await isAlive(Number(owner)))) {
      await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
    }
  }
}
