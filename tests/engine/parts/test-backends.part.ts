import { join } from 'node:path';
import { images as used } from '@quittance/local-backends/container.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { docker, run } from '../docker.ts';
import type { Part } from '../part.ts';

/** A small file that tests only the run's PostgreSQL and RabbitMQ. */
const file = 'packages/testkit/test/backends.int.test.ts';

export const part: Part = {
  name: 'test-backends',
  about:
    'the tests find the engine by themselves: their PostgreSQL and RabbitMQ are containers, which are removed after the run',
  run: async ({ images, say }) => {
    images.nameStandIns();
    const since = new Date().toISOString();
    const before = await running();
    const jest = join(repositoryRoot, 'node_modules/jest/bin/jest.js');
    const options = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
    await run(process.execPath, [...options, jest, file], {
      cwd: repositoryRoot,
      // The image that removes containers of a killed run has no stand-in.
      env: { ...process.env, ...(images.areStandIns && { TESTCONTAINERS_RYUK_DISABLED: 'true' }) },
    });
    const filters = ['--filter', 'type=container', '--filter', 'event=start', '--format', '{{.From}}'];
    const started = (await docker('events', '--since', since, '--until', new Date().toISOString(), ...filters)).split(
      '\n',
    );
    for (const image of [used.postgres, used.rabbitmq]) {
      if (!started.includes(image))
        throw new Error(`the tests passed without a container of ${image}: ${started.join(', ')}`);
    }
    say(`passed  ${file} on containers of ${used.postgres} and ${used.rabbitmq}`);
    const left = (await running()).filter((id) => !before.includes(id));
    if (left.length > 0) throw new Error(`the run has left ${left.length} containers`);
  },
};

async function running(): Promise<string[]> {
  return (await docker('ps', '--all', '--quiet')).split('\n').filter(Boolean);
}
