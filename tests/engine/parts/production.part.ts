import { deploy } from '../deployment.ts';
import type { Part } from '../part.ts';

export const part: Part = {
  name: 'production',
  about:
    'a production deployment by init, behind an own proxy: five services, PostgreSQL and RabbitMQ, each killed and restarted',
  run: async (context) => {
    const deployment = await deploy(context, { options: ['--own-proxy'] });
    await deployment.survives('chain-watcher', 'postgres', 'rabbitmq', 'edge');
  },
};
