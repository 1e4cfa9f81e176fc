import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** How to isolate a process here: the words that start the namespaces, and those that make it user 10001 inside. */
export type Containment = { enter: string[]; identity: string };

const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
const withoutPrivileges = 'setpriv --no-new-privs --inh-caps=-all --bounding-set=-all';
const CAP_SYS_ADMIN = 21n;

/**
 * What this machine allows: namespaces as root, or the same inside a user namespace as any other user.
 * @returns the reason if neither is allowed. Root with the necessary capability is always allowed.
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
  // A read-only mount and a nested user show whether all of it works.
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
