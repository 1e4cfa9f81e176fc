import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** How a process is shut in here: the words that start the namespaces, and those that make it user 10001 within. */
export type Containment = { enter: string[]; identity: string };

const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
const withoutPrivileges = 'setpriv --no-new-privs --inh-caps=-all --bounding-set=-all';
const CAP_SYS_ADMIN = 21n;

/**
 * What this machine lets us do: as root, namespaces; as anybody else, the same below a namespace of users.
 * @returns why not, where it lets us do neither. Root with the capability for it is always let.
 */
export function containment(): Containment | { impossible: string } {
  if (process.platform !== 'linux') return { impossible: `${process.platform} has no namespaces` };
  if (process.getuid?.() === 0 && hasCapability(CAP_SYS_ADMIN)) {
    return {
      enter: ['unshare', ...namespaces],
      identity: `${withoutPrivileges} --reuid=10001 --regid=10001 --clear-groups --`,
    };
  }
  const user: Containment = {
    enter: ['unshare', '--user', '--map-root-user', ...namespaces],
    identity: `unshare --user --map-user=10001 --map-group=10001 -- ${withoutPrivileges} --`,
  };
  // A read-only mount and a nested user say whether the whole of it will go.
  const words = ['sh', '-c', `mount -t tmpfs tmpfs /mnt && exec ${user.identity} true`];
  const [command = '', ...rest] = [...user.enter, ...words];
  const attempt = spawnSync(command, rest, { encoding: 'utf8' });
  if (attempt.status === 0) return user;
  return { impossible: attempt.error?.message ?? attempt.stderr.trim() };
}

function hasCapability(number: bigint): boolean {
  const [, effective = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return ((BigInt(`0x${effective}`) >> number) & 1n) === 1n;
}
