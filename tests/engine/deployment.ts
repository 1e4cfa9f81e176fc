import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Wallet } from 'ethers';
import { freePorts } from '@quittance/local-backends/ports.ts';
import { freshCheckout } from './checkout.ts';
import type { Container, Project } from './compose.ts';
import { standInsOf } from './images.ts';
import type { PartContext } from './part.ts';
import { openShop, prepareShop, type Shop } from './shop.ts';

export type Deployment = Project & {
  /** URL of the edge on this machine, without TLS. */
  edgeUrl: string;
  /** Makes a payment from creation to webhook. @returns its id. */
  paid(): Promise<string>;
  /** Kills the container of each service, one after the other, and makes a payment once they are back. */
  survives(...services: string[]): Promise<void>;
  /** Runs `ops …` of the deployment. */
  ops(...words: string[]): Promise<string>;
};

type Choice = {
  /** Used instead of a checkout of this version. The caller has built its images. */
  checkout?: Project;
  /** Options for init in addition to the name, the endpoints and a wallet. */
  options?: string[];
  /** Added to the end of COMPOSE_FILE. */
  files?: string[];
  /** Used instead of the bundled backends that init enables. */
  profiles?: string[];
  settings?: Record<string, string>;
  /** Called in the checkout before the first start. */
  prepare?: (project: Project) => Promise<void>;
};

export const publicHost = 'pay.example.com';

/**
 * The result of docs/go-live.md, by its commands: settings by `init.sh`, everything started, a merchant created by `ops`. The test chain
 * replaces a provider, under the name that an operator's own node would have. A shop runs next to it, and one payment is paid.
 */
export async function deploy(context: PartContext, choice: Choice = {}): Promise<Deployment> {
  const { images, say, onEnd } = context;
  if (choice.checkout === undefined) await images.ours();
  const project = choice.checkout ?? (await freshCheckout(images.version, onEnd));
  const [edge = 0, chain = 0, receiver = 0] = await freePorts(3);
  await initialise(project, edge, choice.options ?? []);
  await prepareShop(project.folder);
  await choice.prepare?.(project);
  const environment = parseEnv(await readFile(join(project.folder, '.env'), 'utf8'));
  const files = [...environment['COMPOSE_FILE']!.split(':'), ...(choice.files ?? [])];
  const isSingle = files.includes('docker-compose.single.yml');
  const shopFiles = ['tests/engine/shop.yml', ...(isSingle ? ['tests/engine/shop-single.yml'] : [])];
  const profiles = choice.profiles ?? environment['COMPOSE_PROFILES']!.split(',');
  await project.set({
    COMPOSE_FILE: [...files, ...shopFiles, ...standInsOf(images, files)].join(':'),
    COMPOSE_PROFILES: [...profiles, 'test-chain'].join(','),
    CHAIN_PORT: String(chain),
    SHOP_PORT: String(receiver),
    SHOP_VERSION: images.version,
    ...choice.settings,
  });
  await project.up();
  say(`up      ${healthy(await project.containers())}`);

  const ops = (...words: string[]) => project.compose('run', '--rm', '-T', 'ops', ...words);
  const edgeUrl = `http://127.0.0.1:${edge}`;
  const chainUrl = `http://127.0.0.1:${chain}`;
  const dispatcher = isSingle ? 'single' : 'webhook-dispatcher';
  const shop = await openShop(project, { edgeUrl, chainUrl, receiverPort: receiver, dispatcher }, ops);
  const deployment = { ...project, edgeUrl, ops, ...lifeOf(project, shop, say) };
  await deployment.paid();
  return deployment;
}

function lifeOf(project: Project, shop: Shop, say: PartContext['say']): Pick<Deployment, 'paid' | 'survives'> {
  const paid = async (): Promise<string> => {
    const payment = await shop.pay();
    say(`paid    ${payment}, and its webhook is verified`);
    return payment;
  };
  return {
    paid,
    survives: async (...services) => {
      for (const service of services) {
        await project.kill(service);
        say(`killed  ${service}, which is back and healthy`);
      }
      await paid();
    },
  };
}

/** The test chain replaces the real ones in `infra/networks.json`, because no provider of those is available here. */
async function initialise(project: Project, edgePort: number, options: string[]): Promise<void> {
  const { folder } = project;
  const testChain = JSON.parse(
    await readFile(join(folder, 'infra/docker/test-chain.networks.json'), 'utf8'),
  ) as object[];
  await writeFile(
    join(folder, 'infra/networks.json'),
    JSON.stringify(testChain.map((one) => ({ ...one, rpc_urls: [] }))),
  );
  await writeFile(join(folder, 'endpoints.txt'), 'local http://anvil:8545 X-Api-Key:a-key-of-the-provider\n');
  // Other programs may use the usual port on this machine.
  const example = join(folder, '.env.example');
  const text = (await readFile(example, 'utf8')).replace(/^EDGE_PUBLISH=.*$/m, `EDGE_PUBLISH=127.0.0.1:${edgePort}`);
  await writeFile(example, text);
  const known = ['--host', publicHost, '--endpoints', 'endpoints.txt', '--wallet', Wallet.createRandom().address];
  await project.run('sh', 'infra/docker/init.sh', ...known, ...options);
}

function healthy(containers: readonly Container[]): string {
  const ones = containers.filter(({ health }) => health === 'healthy');
  return `${ones.length} containers are healthy: ${ones
    .map(({ service }) => service)
    .sort()
    .join(', ')}`;
}
