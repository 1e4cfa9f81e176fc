import { spawn } from 'node:child_process';
import { ownEnvironment } from '../../support/journey-stack.ts';

/** The variables that npm sets for its children, such as these tests, would not exist in a person's shell. */
const withoutNpm = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_(?!config_(?:registry|cache)$)/i.test(name)));

/** A shell in a folder. Its commands find the stack by its directory, and have no network. */
export function openTerminal(cwd: string, stackDirectory: string) {
  let output = '';
  const open = new Map<number, Promise<number | null>>();
  const start = (command: string): Promise<number | null> => {
    const env = { ...withoutNpm(ownEnvironment()), LOCAL_DIRECTORY: stackDirectory, npm_config_offline: 'true' };
    // In its own process group, because npm starts other processes.
    const child = spawn('sh', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (child.pid !== undefined) open.set(child.pid, ended);
    void ended.finally(() => open.delete(child.pid ?? 0)).catch(() => undefined);
    return ended;
  };
  return {
    output: () => output,
    open: (command: string): void => void start(command).catch(() => undefined),
    /** @throws Error with all output, when the command fails. */
    async run(command: string): Promise<void> {
      const code = await start(command);
      if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output}`);
    },
    /** Ctrl-C in everything that still runs. */
    async close(): Promise<void> {
      const left = [...open];
      for (const [pid] of left) interrupt(pid);
      await Promise.all(left.map(([, ended]) => ended.catch(() => null)));
    },
  };
}

function interrupt(group: number): void {
  try {
    process.kill(-group, 'SIGINT');
  } catch {
    // It has already ended.
  }
}
