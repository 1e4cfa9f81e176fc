import { deploy } from '../deployment.ts';
import type { Part } from '../part.ts';

export const part: Part = {
  name: 'production',
  about:
    'what init makes for money, behind a proxy of the own: five services, PostgreSQL and RabbitMQ, each killed and back',
  run: async (context) => {
    const deployment = await deploy(context, { options: ['--own-proxy'] });
    await deployment.survives('chain-watcher', 'postgres', 'rabbitmq', 'edge');
  },
};
