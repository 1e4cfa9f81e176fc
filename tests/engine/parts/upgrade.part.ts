import { serviceNames } from '@quittance/contracts/service-name.ts';
import { pullInto, releaseCheckout, releaseInto } from '../checkout.ts';
import { deploy, type Deployment } from '../deployment.ts';
import { buildImages } from '../images.ts';
import type { Part, PartContext } from '../part.ts';

/** The tag of the release's images, which may have the same version as ours. */
const release = 'release';

/** Files that an operator has changed, and that `git` therefore keeps. */
const kept = ['infra/networks.json'];

export const part: Part = {
  name: 'upgrade',
  about:
    'release 0.2.0, created by its init, is upgraded to this version as docs/docker.md says, rolled back, upgraded again, and ends without ' +
    'INTERNAL_TOKEN; payments are paid at each step',
  run: async (context) => {
    const { images, say, onEnd } = context;
    const { RELEASE_ARCHIVE: archive = '' } = process.env;
    if (archive === '') return 'git does not have release 0.2.0 here: fetch the whole history';
    await images.ours();
    const checkOut = (close: PartContext['onEnd']) => releaseCheckout(archive, release, close);
    await buildImages({ ...images, say }, { version: release, files: 'docker-compose.yml' }, checkOut);
    const deployment = await deploy(context, { checkout: await checkOut(onEnd), options: ['--own-proxy'] });
    const first = await deployment.paid();

    const upgrade = async (): Promise<void> => {
      await pullInto(deployment, kept);
      await deployment.set({ QUITTANCE_VERSION: images.version });
      await deployment.run('sh', 'infra/docker/init.sh', '--update');
      await restart(deployment);
      say('changed to this version, with keys and users');
      await requirePaid(deployment, first);
    };
    await upgrade();
    await requireKeys(deployment);

    await releaseInto(deployment, archive, kept);
    await deployment.set({ QUITTANCE_VERSION: release });
    await restart(deployment);
    say('back to 0.2.0');
    await requirePaid(deployment, first);
    await upgrade();

    await deployment.set({ INTERNAL_TOKEN: '' });
    await restart(deployment);
    say('without INTERNAL_TOKEN');
    await requirePaid(deployment, first);
    return undefined;
  },
};

/**
 * Within the hour after the upgrade `ops trust check` still fails, with a row for each service: has its own key, and accepts
 * INTERNAL_TOKEN.
 */
async function requireKeys(deployment: Deployment): Promise<void> {
  const said = await deployment.ops('trust', 'check').then(
    (answer) => `ended with 0: ${answer}`,
    (error: unknown) => String(error),
  );
  const without = serviceNames.filter((name) => !new RegExp(`^ *${name} +yes +yes `, 'm').test(said));
  if (without.length > 0 || said.startsWith('ended with 0')) throw new Error(`ops trust check: ${said}`);
}

async function restart(deployment: Deployment): Promise<void> {
  await deployment.up();
  await deployment.compose('restart', 'edge');
  await deployment.up();
}

/** A new payment can be paid, and the earlier one is still PAID. */
async function requirePaid(deployment: Deployment, first: string): Promise<void> {
  await deployment.paid();
  const shown = await deployment.ops('payment', 'show', first, '--json');
  if (!shown.includes('"PAID"')) throw new Error(`${first} is not PAID any more`);
}
