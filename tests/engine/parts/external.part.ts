import { randomBytes } from 'node:crypto';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Project } from '../compose.ts';
import { deploy } from '../deployment.ts';
import { docker, patience } from '../docker.ts';
import type { Part, PartContext } from '../part.ts';

/** As in elsewhere.yml. Only containers to which docker-compose.external.yml gives outside access reach it. */
const network = 'quittance-engine-elsewhere';
const postgres = 'quittance-engine-postgres';
const rabbitmq = 'quittance-engine-rabbitmq';
const password = randomBytes(12).toString('hex');

export const part: Part = {
  name: 'external',
  about: 'PostgreSQL and RabbitMQ given by URL, outside the project; none of the bundled ones runs',
  run: async (context) => {
    await docker('network', 'create', network);
    const deployment = await deploy(context, {
      options: ['--own-proxy'],
      profiles: [],
      files: ['tests/engine/elsewhere.yml'],
      settings: {
        POSTGRES_ADDRESS: `${postgres}:5432`,
        POSTGRES_ADMIN_URL: `postgres://postgres:${password}@${postgres}:5432/quittance`,
        AMQP_URL: `amqp://shop:${password}@${rabbitmq}:5672`,
      },
      prepare: (project) => startElsewhere(project, context),
    });
    const services = (await deployment.containers()).map(({ service }) => service);
    const bundled = services.filter((service) => service === 'postgres' || service === 'rabbitmq');
    if (bundled.length > 0) throw new Error(`the bundled ${bundled.join(' and ')} runs`);
    await deployment.survives('payments');
    // The services must reconnect to both.
    for (const name of [postgres, rabbitmq]) await docker('restart', '--time', '60', name);
    context.say('restarted both backends');
    await deployment.paid();
  },
};

/** Uses the images that compose names, so that no others have to be pulled. */
async function startElsewhere(project: Project, { images }: PartContext): Promise<void> {
  const words = ['run', '--detach', '--network', network];
  const start = async (name: string, env: string[], image: string): Promise<void> => {
    await docker(...words, '--name', name, '--hostname', name, ...env.flatMap((one) => ['--env', one]), image);
  };
  const text = await project.run('docker', 'compose', '--profile', '*', 'config', '--format', 'json');
  const { services } = JSON.parse(text) as { services: Record<string, { image: string }> };
  const imageOf = (name: string): string => (images.areStandIns ? `stand-in/${name}` : services[name]!.image);
  await start(postgres, [`POSTGRES_PASSWORD=${password}`], imageOf('postgres'));
  await start(rabbitmq, ['RABBITMQ_DEFAULT_USER=shop', `RABBITMQ_DEFAULT_PASS=${password}`], imageOf('rabbitmq'));
  // Over TCP, where the temporary server that initializes the cluster does not listen.
  await eventually(() => docker('exec', postgres, 'pg_isready', '-q', '-h', '127.0.0.1', '-U', 'postgres'), patience);
}
