import { deploy } from '../deployment.ts';
import type { Part } from '../part.ts';

export const part: Part = {
  name: 'single',
  about: 'all services in one container, which is killed and restarts',
  run: async (context) => {
    const deployment = await deploy(context, { options: ['--own-proxy', '--single'] });
    const ours = (await deployment.containers()).filter(
      ({ state, image }) => state === 'running' && image.startsWith('quittance/'),
    );
    const names = ours.map(({ service }) => service).sort();
    if (names.join() !== 'check,receiver,single') throw new Error(`our images run as ${names.join(', ')}`);
    await deployment.survives('single');
  },
};
