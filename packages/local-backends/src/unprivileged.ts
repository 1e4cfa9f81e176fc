import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** How to run a program that refuses to run as root: as which user, and with which command in front. */
export type RunAs = { uid: number; gid: number; wrap(command: string, args: string[]): Wrapped };
type Wrapped = { command: string; args: string[]; uid?: number; gid?: number };

/**
 * For root, an unprivileged user who can reach `directory`; null for other users, who run programs as themselves.
 * No user is created: `postgres` if it exists, else `nobody`. For a checkout below a directory closed to others (/root
 * has mode 0700), the user gets the one capability to pass it (CAP_DAC_OVERRIDE, through util-linux's setpriv).
 * @throws Error that says what to do when neither is possible.
 */
export function unprivilegedUser(directory: string): RunAs | null {
  if (process.getuid?.() !== 0) return null;
  const user = findUser('postgres') ?? findUser('nobody');
  if (!user)
    throw new Error(
      'PostgreSQL does not run as root, and there is neither a user postgres nor nobody. Start as a normal user.',
    );

  const { uid, gid } = user;
  const plain = (command: string, args: string[]): Wrapped => ({ command, args, uid, gid });
  const withCapability = (command: string, args: string[]): Wrapped => ({
    command: 'setpriv',
    args: [
      ...[`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'],
      ...['--inh-caps=-all,+dac_override', '--ambient-caps=-all,+dac_override', '--', command, ...args],
    ],
  });

  for (const wrap of [plain, withCapability]) {
    if (succeeds(wrap('/bin/sh', ['-c', 'cd "$0"', directory]))) return { uid, gid, wrap };
  }
  throw new Error(
    `PostgreSQL does not run as root, and the user ${user.name} cannot reach ${directory}. ` +
      'Move the checkout to a directory that other users may enter, or start as a normal user.',
  );
}

/**
 * A directory of programs that this user can run. Below a closed directory it is a copy in /var/tmp, made once for each
 * name: programs that look for their own files with access(2), as PostgreSQL's do, can't use the capability above,
 * because access(2) ignores it.
 * @param programs.name describes the content, with its version.
 * @param programs.probe one of its programs, relative to the directory.
 * @throws Error when the copy belongs to another user.
 */
export async function reachablePrograms(
  { uid, gid }: RunAs,
  programs: { directory: string; name: string; probe: string },
): Promise<string> {
  const { directory, name, probe } = programs;
  if (succeeds({ command: 'test', args: ['-x', join(directory, probe)], uid, gid })) return directory;
  const copy = join('/var/tmp', name);
  if (!existsSync(copy)) {
    const unfinished = await mkdtemp(`${copy}.`);
    await cp(directory, unfinished, { recursive: true, verbatimSymlinks: true });
    await chmod(unfinished, 0o755);
    // Another start may have finished the same copy.
    await rename(unfinished, copy).catch(() => rm(unfinished, { recursive: true, force: true }));
  }
  const { uid: owner, mode } = await lstat(copy);
  if (owner !== 0 || (mode & 0o022) !== 0 || (mode & 0o170000) !== 0o040000) {
    throw new Error(`${copy} is not a directory that only root can change. Remove it; it is made again.`);
  }
  return copy;
}

function findUser(name: string): { name: string; uid: number; gid: number } | null {
  const id = (flag: string) => Number.parseInt(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout, 10);
  const uid = id('-u');
  return Number.isNaN(uid) || uid === 0 ? null : { name, uid, gid: id('-g') };
}

function succeeds({ command, args, uid, gid }: Wrapped): boolean {
  const identity = uid === undefined || gid === undefined ? {} : { uid, gid };
  return spawnSync(command, args, { cwd: '/', stdio: 'ignore', ...identity }).status === 0;
}
