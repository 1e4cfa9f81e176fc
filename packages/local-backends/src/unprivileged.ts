import { spawnSync } from 'node:child_process';

/** How to run a program that refuses to run as root: as whom, and behind which command. */
export type RunAs = { uid: number; gid: number; wrap(command: string, args: string[]): Wrapped };
type Wrapped = { command: string; args: string[]; uid?: number; gid?: number };

/**
 * For root, an unprivileged user who can reach all of `directories`; for anybody else null: they run things as themselves.
 *
 * No user is created: `postgres` where it exists, else `nobody`. A checkout below a directory closed to others
 * (/root has mode 0700) is reached with the one capability of passing it (CAP_DAC_OVERRIDE, through util-linux's setpriv).
 * @throws Error saying what to do when neither way is open.
 */
export function unprivilegedUser(directories: string[]): RunAs | null {
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
    if (directories.every((directory) => canEnter(wrap, directory))) return { uid, gid, wrap };
  }
  throw new Error(
    `PostgreSQL does not run as root, and the user ${user.name} cannot reach ${directories.join(' or ')}. ` +
      'Move the checkout to a directory that other users may enter, or start as a normal user.',
  );
}

function findUser(name: string): { name: string; uid: number; gid: number } | null {
  const id = (flag: string) => Number.parseInt(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout, 10);
  const uid = id('-u');
  return Number.isNaN(uid) || uid === 0 ? null : { name, uid, gid: id('-g') };
}

function canEnter(wrap: RunAs['wrap'], directory: string): boolean {
  const { command, args, uid, gid } = wrap('/bin/sh', ['-c', 'cd "$0"', directory]);
  const identity = uid === undefined || gid === undefined ? {} : { uid, gid };
  return spawnSync(command, args, { cwd: '/', stdio: 'ignore', ...identity }).status === 0;
}
