import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { copyContext } from './build-context.ts';
import { layoutCommand } from './dockerfile.ts';

export type Layouts = {
  /** Holds everything; all users may pass through it. */
  directory: string;
  /** The tree of an image: the content of its /app. */
  app(name: string): string;
  remove(): Promise<void>;
};

/** Builds as the Dockerfile does, with its own command and the files that .dockerignore includes, as far as possible without an engine. */
export async function layOut(names: readonly string[]): Promise<Layouts> {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-image-'));
  await chmod(directory, 0o755);
  const remove = () => rm(directory, { recursive: true, force: true });
  const context = join(directory, 'context');
  await copyContext(context);
  const waiting = [...names];
  const layNext = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      await layOne({ directory, context }, name);
  };
  // Each waits for the disk half of the time, so three run at once.
  const workers = await Promise.allSettled([layNext(), layNext(), layNext()]);
  const failure = workers.find((worker) => worker.status === 'rejected');
  if (failure === undefined) return { directory, app: (name) => join(directory, name, 'app'), remove };
  await remove();
  throw failure.reason;
}

async function layOne({ directory, context }: { directory: string; context: string }, name: string): Promise<void> {
  const source = join(directory, name, 'source');
  await mkdir(join(directory, name));
  await promisify(execFile)('cp', ['-R', '-p', context, source]);
  const [program = '', ...words] = layoutCommand(name, source, join(directory, name, 'app'));
  await promisify(execFile)(program, words, { cwd: source, timeout: 480_000, env: buildEnvironment() });
  await rm(source, { recursive: true, force: true });
}

/** This process's environment with the image's Node first, and without what npm and jest set for their child processes. */
function buildEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(?:npm_config_(?!registry|cache)|NODE_(?:OPTIONS|ENV)$)/i;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  return { ...Object.fromEntries(kept), PATH: path };
}
