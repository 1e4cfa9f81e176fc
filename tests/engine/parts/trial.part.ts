import { serviceNames } from '@quittance/contracts/service-name.ts';
import { freePorts } from '@quittance/local-backends/ports.ts';
import { freshCheckout } from '../checkout.ts';
import type { Project } from '../compose.ts';
import { standInsOf } from '../images.ts';
import type { Part, PartContext } from '../part.ts';

const nextVersion = '99.0.0';
const killed = [...serviceNames, 'edge', 'receiver', 'rabbitmq', 'postgres'];
const files = ['docker-compose.yml', 'docker-compose.trial.yml'];

export const part: Part = {
  name: 'trial',
  about: 'the trial: payments paid, every container killed and restarted, an upgrade and a rollback',
  run: async (context) => {
    const { images, say, onEnd } = context;
    await images.ours();
    const project = await freshCheckout(images.version, onEnd);
    const [edge, receiver] = await freePorts(2);
    await project.set({
      COMPOSE_FILE: [...files, ...standInsOf(images, files)].join(':'),
      EDGE_PUBLISH: `127.0.0.1:${edge}`,
      TRIAL_PUBLISH: `127.0.0.1:${receiver}`,
    });
    await project.up();
    const well = (await project.containers()).filter(({ health }) => health === 'healthy');
    say(`up      ${well.length} containers are healthy`);
    const first = await paid(project);
    say(`paid    ${first}`);
    for (const service of killed) {
      await project.kill(service);
      say(`killed  ${service}, which is back and healthy`);
    }
    say(`paid    ${await paid(project)}`);
    await change(project, context, nextVersion, first);
    await change(project, context, images.version, first);
  },
};

async function change(project: Project, { images, say }: PartContext, to: string, first: string): Promise<void> {
  await project.set({ QUITTANCE_VERSION: to });
  await project.compose(...images.buildWords);
  await project.up();
  await project.compose('restart', 'edge');
  await project.up();
  const ours = (await project.containers()).filter(({ image }) => image.startsWith('quittance/'));
  const others = ours.filter(({ image }) => !image.endsWith(`:${to}`));
  if (ours.length < serviceNames.length || others.length > 0)
    throw new Error(
      `image).join(', ')} => after the change to ${to} these run: ${others.map(({ image }) => image).join(', ')} => image).join(', ')}`,
    );
  say(`changed to ${to}: ${ours.length} containers run it; ${await paid(project)}`);
  const shown = await project.compose('run', '--rm', '-T', 'ops', 'payment', 'show', first, '--json');
  if (!shown.includes('"PAID"')) throw new Error(`${first} is not PAID any more`);
}

/** Runs the trial's demo. @returns the first of its payments. @throws Error with its whole output. */
async function paid({ compose }: Project): Promise<string> {
  const said = await compose('run', '--rm', '-T', 'trial');
  const [, payment] = /^created +(pay_\w+)/m.exec(said) ?? [];
  if (payment === undefined || !said.includes('5 payments are PAID, and their webhooks verified'))
    throw new Error(said);
  return payment;
}
