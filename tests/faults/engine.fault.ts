import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import type { Fault } from './fault.ts';

const folder = join(repositoryRoot, 'tests', 'engine');

/** What machine.sh ends with where no engine can be had. */
const UNAVAILABLE = 69;

export const fault: Fault = {
  name: 'engine',
  about:
    'Docker Compose for real: images are built, payments paid, every container killed, an upgrade made and taken back; on the engine ' +
    'of this machine, or in a Debian with Docker that root can have in a directory',
  async run({ onEnd }) {
    const program = [process.execPath, join(folder, 'main.ts')];
    const [command = '', ...words] = (await answers()) ? program : ['sh', join(folder, 'machine.sh'), ...program];
    const child = spawn(command, words, { stdio: ['ignore', 'inherit', 'inherit'] });
    onEnd(async () => void child.kill());
    const [code] = (await once(child, 'close')) as [number | null];
    if (code === UNAVAILABLE)
      return { broken: [], lines: [], skipped: 'no container engine answers, and none can be had (see above)' };
    return { broken: code === 0 ? [] : [`what the engine was asked ended with ${code}, see above`], lines: [] };
  },
};

async function answers(): Promise<boolean> {
  const child = spawn('docker', ['version'], { stdio: 'ignore' });
  const [code] = (await Promise.race([once(child, 'close'), once(child, 'error')])) as [unknown];
  return code === 0;
}
