import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';

const run = promisify(execFile);
const git = async (...words: string[]): Promise<string> =>
  (await run('git', words, { cwd: repositoryRoot })).stdout.trim();

/** An earlier version, ready to run. */
export type Checkout = { path: string; remove: () => Promise<void> };

/**
 * Checks it out into a separate folder, with its dependencies.
 * @param revision for git. @throws Error if git does not have it, as in a shallow clone.
 */
export async function checkOut(revision: string): Promise<Checkout> {
  const commit = await git('rev-parse', '--verify', `${revision}^{commit}`);
  const path = join(await mkdtemp(join(tmpdir(), 'quittance-earlier-')), 'checkout');
  await git('worktree', 'add', '--detach', path, commit);
  const remove = async (): Promise<void> => {
    await git('worktree', 'remove', '--force', path);
  };
  try {
    // Every command installs first; this one does little else.
    await run(process.execPath, ['infra/local/bootstrap.mjs', 'asyncapi'], { cwd: path });
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, remove };
}

/** @returns the last commit of a release. @throws Error if git does not have it, as in a shallow clone. */
export async function releaseCommit(version: string): Promise<string> {
  const tagged = await git('rev-parse', '--short', '--verify', '--quiet', `v${version}^{commit}`).catch(() => '');
  const commit = tagged || (await git('log', '-1', '--format=%h', `--grep=^Release ${version.replaceAll('.', '\\.')}`));
  if (commit === '') throw new Error(`git does not have release ${version}: fetch the whole history`);
  return commit;
}

/** Writes its files into one archive, for places without git. */
export async function archiveOf(revision: string, path: string): Promise<void> {
  await git('archive', '--format=tar', `--output=${path}`, revision);
}

const MIGRATIONS = /^(?:services|packages)\/[^/]+\/migrations\/[^/]+\.sql$/;

const migrationsAt = async (revision: string): Promise<string[]> =>
  (await git('ls-tree', '-r', '--name-only', revision, 'services', 'packages'))
    .split('\n')
    .filter((path) => MIGRATIONS.test(path))
    .toSorted();

/** Skips revisions between two releases to which a migration was added before an earlier one of the same schema. */
export async function revisionBeforeLastMigration(): Promise<string> {
  const paths = ['services/*/migrations/*.sql', 'packages/*/migrations/*.sql'];
  const additions = (await git('log', '--format=%h', '--diff-filter=A', '--', ...paths)).split('\n');
  const today = Map.groupBy(await migrationsAt('HEAD'), dirname);
  for (const addition of additions) {
    const before = Map.groupBy(await migrationsAt(`${addition}^`), dirname);
    const isUpgradable = [...before].every(([folder, files]) =>
      files.every((file, place) => file === today.get(folder)?.[place]),
    );
    if (isUpgradable) return git('rev-parse', '--short', `${addition}^`);
  }
  throw new Error('no earlier revision can be upgraded to this one');
}
