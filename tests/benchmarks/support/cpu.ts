import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** /proc of Linux counts in hundredths of a second, with any clock of the kernel. */
const TICK_US = 10_000;

/**
 * CPU time a process has taken so far, user and system.
 * @returns null where there is no /proc, or no such process.
 */
export function cpuUsOf(pid: number): number | null {
  const stat = statOf(pid);
  return stat === null ? null : (stat.own + stat.reaped) * TICK_US;
}

/** The same of a process with its children, such as PostgreSQL with its backends; those that ended are counted too. */
export function cpuUsOfFamily(pid: number | null): number | null {
  const parent = pid === null ? null : statOf(pid);
  if (parent === null) return null;
  const children = pidsOfAll()
    .map(statOf)
    .filter((stat) => stat?.parent === pid);
  const ticks = children.reduce((sum, stat) => sum + (stat?.own ?? 0), parent.own + parent.reaped);
  return ticks * TICK_US;
}

/** The same of this process with all its descendants. */
export function cpuUsOfDescendants(): number | null {
  const stats = new Map([process.pid, ...pidsOfAll()].map((pid) => [pid, statOf(pid)]));
  if (stats.get(process.pid) === null) return null;
  const isOurs = (pid: number): boolean => pid === process.pid || (pid > 1 && isOurs(stats.get(pid)?.parent ?? 0));
  const ticks = [...stats].map(([pid, stat]) => (stat !== null && isOurs(pid) ? stat.own + stat.reaped : 0));
  return ticks.reduce((sum, own) => sum + own, 0) * TICK_US;
}

/** The same of all children of this process that have ended, and of theirs. */
export function cpuUsOfEndedChildren(): number | null {
  const stat = statOf(process.pid);
  return stat === null ? null : stat.reaped * TICK_US;
}

/** @returns null where there is no /proc, or no such process. */
export function parentOf(pid: number): number | null {
  return statOf(pid)?.parent ?? null;
}

/** None where there is no /proc. */
const pidsOfAll = (): number[] =>
  existsSync('/proc/self')
    ? readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map(Number)
    : [];

function statOf(pid: number): { parent: number; own: number; reaped: number } | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The second field is the program's name in parentheses, which may hold anything. The third comes after the last parenthesis.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  return { parent: field(4), own: field(14) + field(15), reaped: field(16) + field(17) };
}
