import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { composeProject, type Project } from './compose.ts';
import { run } from './docker.ts';

/** Files that `git clone` would not create. */
const notCloned = [
  'node_modules',
  '.git',
  '.local',
  'generated',
  'coverage',
  '.env',
  'chain-watcher.env',
  'alertmanager.yml',
];

type OnEnd = (close: () => Promise<unknown>) => void;

/**
 * A separate checkout, as on a server, in which the docs' commands can be run. It is removed after the part, with everything it started.
 */
export async function freshCheckout(version: string, onEnd: OnEnd): Promise<Project> {
  const folder = await newFolder(onEnd);
  await bringHere(folder);
  return composeProject(folder, version);
}

/** A checkout of a release. @param archive from `git archive`. @param version of its images here. */
export async function releaseCheckout(archive: string, version: string, onEnd: OnEnd): Promise<Project> {
  const folder = await newFolder(onEnd);
  await extract(archive, folder);
  const example = join(folder, '.env.example');
  const text = await readFile(example, 'utf8');
  await writeFile(example, text.replace(/^QUITTANCE_VERSION=.*$/m, `QUITTANCE_VERSION=${version}`));
  return composeProject(folder, version);
}

/** What unpacking a release's archive for Compose makes, without a checkout. */
export async function composeFolder(archive: string, version: string, onEnd: OnEnd): Promise<Project> {
  const folder = await newFolder(onEnd);
  await extract(archive, folder, '--strip-components=1');
  return composeProject(folder, version);
}

/** What `git checkout` of the release does, except for `kept`, which the operator has changed. */
export async function releaseInto({ folder }: Project, archive: string, kept: readonly string[]): Promise<void> {
  await extract(archive, folder, ...kept.map((path) => `--exclude=${path}`));
}

/** tests/engine stays this version's: it represents what surrounds a deployment. */
async function extract(archive: string, folder: string, ...words: string[]): Promise<void> {
  await run('tar', ['--extract', '--file', archive, '--directory', folder, ...words]);
  await cp(import.meta.dirname, join(folder, 'tests/engine'), { recursive: true });
}

/** What `git pull` of this version does, except for `kept`. Files that no longer exist are not removed. */
export const pullInto = ({ folder }: Project, kept: readonly string[]): Promise<void> => bringHere(folder, kept);

async function newFolder(onEnd: OnEnd): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quittance-engine-'));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function bringHere(folder: string, kept: readonly string[] = []): Promise<void> {
  const isBrought = (path: string): boolean =>
    path === repositoryRoot || !(notCloned.includes(basename(path)) || kept.includes(relative(repositoryRoot, path)));
  await cp(repositoryRoot, folder, { recursive: true, filter: isBrought });
}
