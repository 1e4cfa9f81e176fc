import { cp, mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';

/** Only at the root, because each package has its own links. */
const LEFT_OUT = ['.git', '.local', 'node_modules'];

/**
 * Copies the working tree, so that the changes affect nothing else. Dependencies are shared; our packages are linked to their copies, as
 * the originals are to each other.
 */
export async function copyWorkingTree(): Promise<{ root: string; remove: () => Promise<void> }> {
  const root = join(repositoryRoot, '.local', 'mutants', 'sql');
  const remove = () => rm(root, { recursive: true, force: true });
  await remove();
  await mkdir(root, { recursive: true });
  const names = (await readdir(repositoryRoot)).filter((name) => !LEFT_OUT.includes(name));
  for (const name of names) {
    await cp(join(repositoryRoot, name), join(root, name), { recursive: true, verbatimSymlinks: true });
  }
  await symlink(join(repositoryRoot, 'node_modules'), join(root, 'node_modules'));
  return { root, remove };
}
