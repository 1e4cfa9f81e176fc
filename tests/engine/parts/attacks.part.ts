import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { NOTIFIER, OPS, serviceNames, settingPrefix, type ServiceName } from '@quittance/contracts/service-name.ts';
import { freePorts } from '@quittance/local-backends/ports.ts';
import { ensureToken, payer } from '@quittance/local-backends/token/token.ts';
import { repositoryRoot, writePrivateJson } from '@quittance/local-stack/stack/directory.ts';
import type { DemoMerchant, StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { passwordSettingOf, urlOfUser } from '@quittance/messaging/broker/set-up.ts';
import { freshCheckout } from '../checkout.ts';
import type { Project } from '../compose.ts';
import { docker } from '../docker.ts';
import { standInsOf } from '../images.ts';
import type { Part } from '../part.ts';
import { prepareShop } from '../shop.ts';

const files = ['docker-compose.yml', 'tests/engine/attacks.yml'];

export const part: Part = {
  name: 'attacks',
  about:
    'what one stolen key or RabbitMQ password gives access to: the topics `forged` and `tokens` of npm run attacks',
  run: async ({ images, say, onEnd }) => {
    await images.ours();
    const project = await freshCheckout(images.version, onEnd);
    const [edge, console, receiver] = (await freePorts(3)) as [number, number, number];
    await prepareShop(project.folder);
    await project.set({
      COMPOSE_FILE: [...files, ...standInsOf(images, files)].join(':'),
      COMPOSE_PROFILES: 'postgres,rabbitmq,test-chain,console',
      QUITTANCE_VERSION: images.version,
      EDGE_PUBLISH: `127.0.0.1:${edge}`,
      CONSOLE_PUBLISH: `127.0.0.1:${console}`,
      SHOP_PORT: String(receiver),
    });
    await project.up();
    say(
      `up      ${(await project.containers()).filter(({ health }) => health === 'healthy').length} containers are healthy`,
    );
    await requireNoRefusal(project);
    const stackFile = join(project.folder, 'stack.json');
    await writePrivateJson(stackFile, await describe(project, { edge, console, receiver }));
    const report = join(project.folder, 'attacks.json');
    const words = ['tests/attacks/main.ts', 'forged', 'tokens', '--stack', stackFile, '--report', report];
    const child = spawn(process.execPath, words, { cwd: repositoryRoot, stdio: ['ignore', 'inherit', 'inherit'] });
    onEnd(async () => void child.kill());
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error('rows are open, see above');
    return undefined;
  },
};

/** RabbitMQ's versions differ in what a user may read. */
async function requireNoRefusal(project: Project): Promise<void> {
  const lines = (await project.compose('logs', ...serviceNames)).split('\n');
  const refused = lines.filter((line) => line.includes('ACCESS_REFUSED'));
  if (refused.length > 0) throw new Error(`RabbitMQ refuses what services do:\n${refused.slice(0, 5).join('\n')}`);
}

/** Describes the deployment like stack.json, with the addresses of its containers, which only this machine reaches. */
async function describe(
  project: Project,
  ports: Record<'edge' | 'console' | 'receiver', number>,
): Promise<Omit<StackFile, 'ca' | 'logs'>> {
  const settings = parseEnv(await readFile(join(project.folder, '.env'), 'utf8'));
  const containers = await project.containers();
  const addressOf = async (service: string, network: string): Promise<string> => {
    const { id } = containers.find((container) => container.service === service)!;
    const format = `{{(index .NetworkSettings.Networks "quittance-engine_${network}").IPAddress}}`;
    return (await docker('inspect', '--format', format, id)).trim();
  };
  const ofEach = async <T>(valueOf: (name: ServiceName) => T | Promise<T>) =>
    Object.fromEntries(await Promise.all(serviceNames.map(async (name) => [name, await valueOf(name)] as const))) as {
      [name in ServiceName]: T;
    };
  const url = (port: number): string => `http://127.0.0.1:${port}`;
  const rabbitmq = await addressOf('rabbitmq', 'backend');
  const amqpUrl = `amqp://quittance:${settings['RABBITMQ_PASSWORD']}@${rabbitmq}:5672`;
  const chainUrl = `http://${await addressOf('anvil', 'chain')}:8545`;
  const token = await ensureToken(chainUrl);
  const words = ['merchant', 'create', '--name', 'My shop', '--unlimited', '--actor', 'engine', '--reason', 'a test'];
  const merchant = await project.compose('run', '--rm', '-T', 'ops', ...words, '--json');
  const services = await ofEach(async (name) => ({
    url: `http://${await addressOf(name, 'backend')}:8080`,
    replicas: [],
  }));
  return {
    edge_url: url(ports.edge),
    console_url: url(ports.console),
    gateway_url: services['api-gateway'].url,
    services,
    signing_keys: {
      ...(await ofEach((name) => settings[`${settingPrefix(name)}SIGNING_KEY`]!)),
      [NOTIFIER]: settings['NOTIFIER_SIGNING_KEY']!,
      [OPS]: settings['OPS_SIGNING_KEY']!,
    },
    postgres_url: `postgres://postgres:${settings['POSTGRES_PASSWORD']}@${await addressOf('postgres', 'backend')}:5432/quittance`,
    amqp_url: amqpUrl,
    amqp_urls: await ofEach((name) => urlOfUser(amqpUrl, name, settings[passwordSettingOf(name)]!)),
    management_url: `http://quittance:${settings['RABBITMQ_PASSWORD']}@${rabbitmq}:15672`,
    chain: {
      network: 'local',
      rpc_url: chainUrl,
      chain_id: 31337,
      token: token.address,
      decimals: token.decimals,
      payer_address: payer.address,
      payer_private_key: payer.privateKey,
    },
    merchant: JSON.parse(merchant) as DemoMerchant,
    receiver: { url: url(ports.receiver), events_url: `${url(ports.receiver)}/events` },
  };
}
