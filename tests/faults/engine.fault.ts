import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import type { Fault } from './fault.ts';
import { archiveOf, releaseCommit } from './upgrade/checkout.ts';

const folder = join(repositoryRoot, 'tests', 'engine');

/** The exit code of machine.sh if no engine is available. */
const UNAVAILABLE = 69;

export const fault: Fault = {
  name: 'engine',
  about:
    'Docker Compose for real, in every way that docs offer: images are built, payments paid, containers killed and restarted, an upgrade made and ' +
    'rolled back, a backup restored; and everything else that uses an engine. On the engine of this machine, or in a Debian with Docker that root can ' +
    'create in a directory (--part <part> for one of them)',
  async run({ part, onEnd }) {
    const program = [process.execPath, join(folder, 'main.ts'), ...(part === null ? [] : [part])];
    const [command = '', ...words] = (await answers()) ? program : ['sh', join(folder, 'machine.sh'), ...program];
    // Stand-ins are built without npm, so the registry is passed on.
    const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
    const env = { ...withoutBackends(), NPM_REGISTRY: registry, RELEASE_ARCHIVE: await archiveOfRelease() };
    const child = spawn(command, words, { stdio: ['ignore', 'inherit', 'inherit'], env });
    onEnd(async () => void child.kill());
    const [code] = (await once(child, 'close')) as [number | null];
    if (code === UNAVAILABLE)
      return { broken: [], lines: [], skipped: 'no container engine answers, and none can be started (see above)' };
    const broken = code === 0 ? [] : [`the parts ended with ${code}, see above`];
    return { broken, lines: [], repeat: part === null ? 'engine' : `engine --part ${part}` };
  },
};

/** The tests that it starts have to find an engine by themselves. */
function withoutBackends(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TEST_')));
}

/** In the checkout, because the machine sees nothing else. @returns '' if git does not have the release. */
async function archiveOfRelease(): Promise<string> {
  const commit = await releaseCommit('0.2.0').catch(() => '');
  if (commit === '') return '';
  const path = join(repositoryRoot, '.local', 'engine', 'release.tar');
  await mkdir(dirname(path), { recursive: true });
  await archiveOf(commit, path);
  return path;
}

async function answers(): Promise<boolean> {
  const child = spawn('docker', ['version'], { stdio: 'ignore' });
  const [code] = (await Promise.race([once(child, 'close'), once(child, 'error')])) as [unknown];
  return code === 0;
}
