import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '@quittance/local-backends/orphans.ts';

/** The prefix of tests' temporary directories; the owner's process id follows. */
export const runDirectoryPrefix = 'quittance-test-';

/** Removes the directories of runs that were killed before they could clean up. */
export async function removeStaleRunDirectories(): Promise<void> {
  const owned = new RegExp(`^${runDirectoryPrefix}(\\d+)-`);
  for (const name of await readdir(tmpdir())) {
    const owner = owned.exec(name)?.[1];
    if (owner && !(await isAlive(Number(owner)))) {
      await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
    }
  }
}
