import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { blocksIn } from '../../support/markdown-blocks.ts';
import { projectName, whenNotBusy } from '../compose.ts';
import { deploy } from '../deployment.ts';
import type { Part } from '../part.ts';

export const part: Part = {
  name: 'backup',
  about:
    'infra/docker/backup.sh copies the running database, everything is lost, and docs/backup.md restores it with its payments',
  run: async (context) => {
    const { say } = context;
    const deployment = await deploy(context, { options: ['--own-proxy'] });
    const { folder } = deployment;
    const saved = await deployment.paid();
    const said = await deployment.run('sh', 'infra/docker/backup.sh', join(folder, 'backups'));
    const file = said.trim();
    say(`copied  ${(statSync(file).size / 1e6).toFixed(1)} MB`);
    const lost = await deployment.paid();

    for (const line of restoring(file)) {
      const carryOut = () => deployment.run('sh', '-ec', line);
      await (line.startsWith('docker compose up') ? whenNotBusy(carryOut) : carryOut());
    }
    await deployment.up();
    say('back    PostgreSQL from the copy, RabbitMQ empty, all messages replayed, everything healthy');

    const shown = await deployment.ops('payment', 'show', saved, '--json');
    if (!shown.includes('"PAID"')) throw new Error(`${saved} is not PAID after the restore: ${shown}`);
    const isLost = await deployment.ops('payment', 'show', lost, '--json').then(
      () => false,
      () => true,
    );
    if (!isLost) throw new Error(`${lost} was created after the copy and still exists, so the test proves nothing`);
    say(`found   ${saved} is PAID, ${lost} from after the copy is unknown`);
    await deployment.survives('postgres');
  },
};

/** The commands of docs/backup.md, one by one, with the names used here. */
function restoring(file: string): string[] {
  const page = readFileSync(join(repositoryRoot, 'docs/backup.md'), 'utf8');
  const block = blocksIn(page).find(({ title }) => title === 'restore');
  if (block === undefined) throw new Error('docs/backup.md has no commands for Compose any more');
  const lines = block.code.split('\n').filter((line) => line !== '');
  return lines.map((line) => line.replace('<COPY>', file).replaceAll('quittance_', `${projectName}_`));
}
