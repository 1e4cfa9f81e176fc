import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import type { ChildProcess } from 'node:child_process';

/** A process that this one started and must stop. */
export type Child = {
  pid: number;
  /** Resolves when the process has ended, for any reason, with that reason as a sentence. Never rejects. */
  exited: Promise<string>;
  running(): boolean;
  /** The last lines that it wrote, errors first: what to show when it did not start. */
  lastWords(): string;
  /** Sends the stop signal, and kills what is left of the process group after the grace period. */
  stop(): Promise<void>;
  /** Ends the whole process group immediately, like a power cut (SIGKILL). */
  kill(): Promise<void>;
};

/** The interface of every backend of the local stack. */
export type Backend = Pick<Child, 'pid' | 'exited' | 'stop' | 'kill'>;

export type ChildOptions = {
  /** The name of the process in messages to people. */
  name: string;
  command: string;
  args: string[];
  /** Both outputs are appended here. */
  logFile: string;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  stopSignal?: NodeJS.Signals;
  graceMs?: number;
  /** Removed when this process dies without having stopped the child: for data that nobody needs later. */
  temporaryDirectory?: string;
};

const maxLogBytes = 10_000_000;

/**
 * Starts a long-running process in its own process group, so that a Ctrl-C in the terminal reaches only us and we
 * decide the order in which things stop. The child never outlives us: see `leash`.
 * @throws Error when the command can't be run at all. An early exit shows in `exited`.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { child, pid, logStart } = await spawnDetached(options);
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve(`${options.name} ended ${signal ? `on ${signal}` : `with exit code ${code}`}`),
    );
  });
  const letGo = leash(pid, options);
  const running = () => child.exitCode === null && child.signalCode === null;
  void exited.then(() => {
    signalGroup(pid, 'SIGKILL');
    letGo();
  });

  return {
    pid,
    exited,
    running,
    lastWords: () => lastWords(options.logFile, logStart),
    stop: async () => {
      if (running()) {
        child.kill(options.stopSignal ?? 'SIGTERM');
        const deadline = setTimeout(() => signalGroup(pid, 'SIGKILL'), options.graceMs ?? 10_000);
        await exited;
        clearTimeout(deadline);
      }
    },
    kill: async () => {
      if (running()) {
        signalGroup(pid, 'SIGKILL');
        await exited;
      }
    },
  };
}

/** Runs both, the second even if the first fails. */
export async function inTurn(first: () => Promise<void>, second: () => Promise<void>): Promise<void> {
  try {
    await first();
  } finally {
    await second();
  }
}

/** The error output of a program that has ended, or the reason why it could not run. */
export function complaintOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return stderr?.trim() || message;
}

async function spawnDetached(options: ChildOptions): Promise<{ child: ChildProcess; pid: number; logStart: number }> {
  const log = openLog(options.logFile);
  const logStart = fstatSync(log).size;
  try {
    const child = spawn(options.command, options.args, {
      detached: true,
      stdio: ['ignore', log, log],
      cwd: options.cwd ?? '/',
      env: options.env ?? process.env,
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => reject(new Error(`${options.name} cannot be started: ${error.message}`)));
    });
    return { child, pid: child.pid as number, logStart };
  } finally {
    closeSync(log);
  }
}

/** Appends to the log. First moves a log that has grown too large aside, so that logs take at most twice that size. */
function openLog(logFile: string): number {
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > maxLogBytes) renameSync(logFile, `${logFile}.1`);
  return openSync(logFile, 'a', 0o600);
}

/**
 * Makes the child end with us: a shell waits for the end of its input, which the system closes when we die, even by
 * kill -9. The child doesn't have to cooperate. Works on Linux and macOS.
 * @returns a function that releases the child, for when it has ended.
 */
export function leash(
  pid: number,
  {
    stopSignal = 'SIGTERM',
    graceMs = 10_000,
    temporaryDirectory = '',
  }: Pick<ChildOptions, 'stopSignal' | 'graceMs' | 'temporaryDirectory'> = {},
): () => void {
  const script = `
    while read -r _; do :; done
    kill -s "$2" "$1"; left="$3"
    while [ "$left" -gt 0 ] && kill -0 "$1"; do sleep 0.1; left=$((left - 1)); done
    kill -s KILL -- "-$1"
    [ -z "$4" ] || rm -rf -- "$4"`;
  const args = [String(pid), stopSignal.replace('SIG', ''), String(Math.ceil(graceMs / 100)), temporaryDirectory];
  const shell = spawn('/bin/sh', ['-c', script, 'leash', ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
  });
  shell.on('error', () => undefined);
  shell.unref();
  const input = shell.stdin as typeof shell.stdin & { unref?: () => void };
  input.unref?.();
  return () => shell.kill('SIGKILL');
}

function lastWords(logFile: string, logStart: number): string {
  const lines = readFileSync(logFile).subarray(logStart).toString().trimEnd().split('\n');
  const errors = lines.filter((line) => /\b(error|fatal|panic|emerg|failed)\b/i.test(line));
  const words = (errors.length > 0 ? errors : lines).slice(-5).map((line) => `  ${line.slice(0, 300)}`);
  return `${words.join('\n')}\n(whole log: ${logFile})`;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is already gone.
  }
}
