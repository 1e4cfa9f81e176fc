import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

type Options = { cwd?: string; env?: NodeJS.ProcessEnv; input?: string };

/** Longer than any machine needs, because tests check whether something happens, not how soon. */
export const patience = { timeoutMs: 900_000, intervalMs: 500 };

export const docker = (...words: string[]): Promise<string> => run('docker', words);

/** Runs a program to its end. @returns its stdout. @throws Error with the end of its output, unless it exits with 0. */
export async function run(program: string, words: readonly string[], options: Options = {}): Promise<string> {
  const { input, ...rest } = options;
  const running = promisify(execFile)(program, words, { maxBuffer: 100_000_000, ...rest });
  running.child.stdin?.on('error', () => undefined).end(input);
  const { stdout } = await running.catch((error: unknown) => {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${words.join(' ')} failed:\n${(stdout + stderr).split('\n').slice(-30).join('\n')}`);
  });
  return stdout;
}

/** Removes every container, network and volume whose name has this prefix, with its content. */
export async function removeAll(prefix: string): Promise<void> {
  const named = async (...words: string[]) =>
    (await docker(...words, '--quiet', '--filter', `name=^${prefix}`)).split('\n').filter(Boolean);
  const remove = async (ids: string[], ...words: string[]) => (ids.length === 0 ? '' : docker(...words, ...ids));
  await remove(await named('ps', '--all'), 'rm', '--force', '--volumes');
  await remove(await named('network', 'ls'), 'network', 'rm');
  await remove(await named('volume', 'ls'), 'volume', 'rm');
}
