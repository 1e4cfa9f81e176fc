import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * Whether a process with this id exists. A zombie counts as gone: it holds no resources. The command line is not a
 * reliable sign, because an ending process loses it before it releases its ports.
 */
export async function isAlive(pid: number): Promise<boolean> {
  return !['', 'Z', 'X'].includes(await stateOf(pid));
}

/** Whether it is stopped by SIGSTOP. */
export async function isStopped(pid: number): Promise<boolean> {
  return (await stateOf(pid)) === 'T';
}

/** The letter of a process's state, as in ps; '' when there is no such process. */
async function stateOf(pid: number): Promise<string> {
  if (process.platform !== 'linux') return (await ps('state=', pid)).slice(0, 1);
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
}

/** The full command line of a process, or '' when there is no such process. */
export async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    const bytes = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return bytes.replaceAll('\0', ' ').trim();
  }
  return ps('command=', pid);
}

async function ps(column: string, pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', column, '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return stdout.trim();
}

/** Records which process uses a directory, so that the next start can end it if it is left over. */
export async function writePidFile(pidFile: string, pid: number): Promise<void> {
  await writeFile(pidFile, `${pid}\n`);
}

/**
 * Ends the process that an earlier run left behind, and no other: a reused process id is recognised by its command
 * line, which must contain `mark` (the directory that the process was started with).
 */
export async function endOrphan(pidFile: string, mark: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10);
  if (pid > 1 && pid !== process.pid) {
    const line = await commandLine(pid);
    if (line.includes(mark)) await endProcess(pid, signal, graceMs);
    // It was just killed and is about to end.
    else if (line === '') await untilGone(pid, graceMs);
  }
  await rm(pidFile, { force: true });
}

const graceMs = 10_000;

async function untilGone(pid: number, patienceMs: number): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline && (await isAlive(pid))) await delay(20);
}

async function endProcess(pid: number, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  const deadline = Date.now() + graceMs;
  trySignal(pid, signal);
  while (await isAlive(pid)) {
    if (Date.now() > deadline) trySignal(pid, 'SIGKILL');
    await delay(50);
  }
}

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
