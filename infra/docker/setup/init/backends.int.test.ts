import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { freePort } from '@quittance/local-backends/ports.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { addressOf, withClient } from '@quittance/postgres/roles/service-databases.ts';
import { testBroker, type TestBroker } from '@quittance/testkit/broker.ts';
import { init } from './init.ts';

/** init refuses loopback addresses, which lead to the container itself. */
const own = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
const onNetwork = own === undefined ? describe.skip : describe;

onNetwork('backends of your own', () => {
  const servers: Server[] = [];
  let broker: TestBroker;
  let postgres: string;
  let rabbitmq: string;
  let management: string;
  let directory: string;

  beforeAll(async () => {
    broker = await testBroker();
    postgres = await elsewhere(addressOf(process.env['TEST_POSTGRES_URL']!, { database: 'quittance' }));
    rabbitmq = await elsewhere(broker.url);
    management = await elsewhere(process.env['TEST_AMQP_MANAGEMENT_URL']!);
  });
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quittance-backends-'));
    await mkdir(join(directory, 'infra'));
    await copyFile(join(repositoryRoot, 'infra/networks.json'), join(directory, 'infra/networks.json'));
    await copyFile(join(repositoryRoot, '.env.example'), join(directory, '.env.example'));
    await writeFile(join(directory, 'endpoints'), 'tron https://tron.provider.net/key/jsonrpc');
  });
  afterEach(() => rm(directory, { recursive: true }));
  afterAll(async () => {
    for (const server of servers) server.close();
    await broker.close();
  });

  /** The same URL, at this machine's own address. */
  async function elsewhere(text: string): Promise<string> {
    const url = new URL(text);
    const { hostname: host, port } = url;
    const server = createServer((client) => {
      const upstream = connect(Number(port), host);
      client.on('error', () => upstream.destroy()).pipe(upstream);
      upstream.on('error', () => client.destroy()).pipe(client);
    }).listen(0, own);
    await once(server, 'listening');
    servers.push(server);
    url.hostname = own!;
    url.port = String((server.address() as AddressInfo).port);
    return url.href;
  }

  async function run(...lines: string[]): Promise<Record<string, string | undefined> | string> {
    await writeFile(join(directory, 'backends'), lines.join('\n'));
    const words = ['--own-proxy', '--host', 'pay.example.com', '--edge', `127.0.0.1:${String(await freePort())}`];
    const files = ['--endpoints', join(directory, 'endpoints'), '--backends', join(directory, 'backends')];
    const refused = await init({}, ['--directory', directory, ...words, ...files]).then(
      () => null,
      (error: unknown) => (error as Error).message,
    );
    return refused ?? parseEnv(await readFile(join(directory, '.env'), 'utf8'));
  }

  test('replace the bundled ones', async () => {
    const { host } = new URL(postgres);
    expect(await run(`postgres ${postgres}`, `rabbitmq ${rabbitmq} management=${management}`)).toMatchObject({
      COMPOSE_FILE: 'docker-compose.yml:docker-compose.external.yml',
      COMPOSE_PROFILES: '',
      POSTGRES_ADMIN_URL: postgres,
      POSTGRES_ADDRESS: host,
      POSTGRES_OPTIONS: '',
      RABBITMQ_ADMIN_URL: rabbitmq,
      RABBITMQ_ADDRESS: `${new URL(rabbitmq).host}/${broker.vhost}`,
      RABBITMQ_SCHEME: 'amqp',
      RABBITMQ_MANAGEMENT_URL: management,
      AMQP_URL: '',
    });
  });

  test('leave the other one bundled, and can have one user for all and a pooler', async () => {
    expect(await run(`rabbitmq ${rabbitmq}`)).toMatchObject({ COMPOSE_PROFILES: 'postgres', AMQP_URL: rabbitmq });
    await rm(join(directory, '.env'));
    await rm(join(directory, 'networks.json'));
    await rm(join(directory, 'chain-watcher.env'));
    expect(await run(`postgres ${postgres} pooler=pooler.example.com:6432`)).toMatchObject({
      COMPOSE_PROFILES: 'rabbitmq',
      POSTGRES_ADDRESS: 'pooler.example.com:6432',
      POSTGRES_DIRECT_ADDRESS: new URL(postgres).host,
      POSTGRES_OPTIONS: '?pgbouncer=true',
    });
  });

  test('are refused by a wrong password, a role without rights, and a port where nothing listens', async () => {
    const role = `init_${String(process.pid)}`;
    const admin = process.env['TEST_POSTGRES_URL']!;
    await withClient(admin, (db) => db.query(`create role ${role} login password 'secret-a'`));
    try {
      const weak = addressOf(postgres, { role, password: 'secret-a' });
      expect(await run(`postgres ${weak}`)).toContain(`${role} may not make roles`);
    } finally {
      await withClient(admin, (db) => db.query(`drop role ${role}`));
    }
    const wrong = new URL(rabbitmq);
    wrong.password = 'secret-b';
    const refused = await run(`rabbitmq ${wrong.href}`);
    expect(refused).toContain('ACCESS_REFUSED');
    expect(refused).not.toContain('secret-b');
    const nobody = new URL(postgres);
    nobody.port = String(await freePort());
    expect(await run(`postgres ${nobody.href}`)).toMatch(/cannot be used: .*ECONNREFUSED/);
  });
});
