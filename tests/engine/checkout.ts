import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { composeProject, type Project } from './compose.ts';

/** What `git clone` would not bring. */
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

/** A checkout of its own, as a server has it, so that docs' commands can be typed in it. Removed after the part, with what it started. */
export async function freshCheckout(version: string, onEnd: (close: () => Promise<unknown>) => void): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'quittance-engine-'));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  const isCloned = (path: string): boolean => path === repositoryRoot || !notCloned.includes(basename(path));
  await cp(repositoryRoot, folder, { recursive: true, filter: isCloned });
  return composeProject(folder, version);
}
