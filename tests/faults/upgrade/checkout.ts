import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';

const run = promisify(execFile);
const git = async (...words: string[]): Promise<string> =>
  (await run('git', words, { cwd: repositoryRoot })).stdout.trim();

/** An earlier version, ready to run. */
export type Checkout = { path: string; remove: () => Promise<void> };

/**
 * Checks it out into a folder of its own, with the dependencies it names.
 * @param revision as git names it. @throws Error when git does not know it, as in a shallow clone.
 */
export async function checkOut(revision: string): Promise<Checkout> {
  const commit = await git('rev-parse', '--verify', `${revision}^{commit}`);
  const path = join(await mkdtemp(join(tmpdir(), 'quittance-earlier-')), 'checkout');
  await git('worktree', 'add', '--detach', path, commit);
  const remove = async (): Promise<void> => {
    await git('worktree', 'remove', '--force', path);
  };
  try {
    // Any command installs first; this one does little else.
    await run(process.execPath, ['infra/local/bootstrap.mjs', 'asyncapi'], { cwd: path });
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, remove };
}

export async function revisionBeforeLastMigration(): Promise<string> {
  const paths = ['services/*/migrations/*.sql', 'packages/*/migrations/*.sql'];
  const last = await git('log', '-1', '--format=%h', '--diff-filter=A', '--', ...paths);
  return git('rev-parse', '--short', `${last}^`);
}
