import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
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
    const npmFolder = part === null || part === 'release' ? installNpm() : '';
    const env = {
      ...withoutBackends(),
      NPM_REGISTRY: registry,
      NPM_FOLDER: npmFolder,
      RELEASE_ARCHIVE: await archiveOfRelease(),
    };
    const child = spawn(command, words, { stdio: ['ignore', 'inherit', 'inherit'], env });
    onEnd(async () => void child.kill());
    const [code] = (await once(child, 'close')) as [number | null];
    if (code === UNAVAILABLE)
      return { broken: [], lines: [], skipped: 'no container engine answers, and none can be started (see above)' };
    const broken = code === 0 ? [] : [`the parts ended with ${code}, see above`];
    return { broken, lines: [], repeat: part === null ? 'engine' : `engine --part ${part}` };
  },
};

/** The tests that it starts have to find an engine by themselves, and `npm run`'s own settings are not for the npm that they run. */
function withoutBackends(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(TEST_|npm_config_)/i.test(name)));
}

/** The npm that publishes a release, and a registry for it, which no other test needs. @returns the folder of their programs. */
function installNpm(): string {
  const installed = join(repositoryRoot, '.local', 'engine', 'npm');
  mkdirSync(installed, { recursive: true });
  // Verdaccio asks for a version of node-fetch that no longer exists.
  const wanted = { private: true, overrides: { 'node-fetch': '2.7.0' } };
  writeFileSync(join(installed, 'package.json'), JSON.stringify(wanted));
  const words = ['install', '--no-audit', '--no-fund', '--loglevel', 'error', 'npm@11.21.2', 'verdaccio@6.10.4'];
  execFileSync('npm', words, { cwd: installed, stdio: ['ignore', 'ignore', 'inherit'] });
  return join(installed, 'node_modules', '.bin');
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
