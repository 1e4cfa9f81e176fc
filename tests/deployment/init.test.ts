import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseEnv } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseNetworks } from '@quittance/contracts/networks.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { readCompose } from './support/compose.ts';
import { init as run } from '../../infra/docker/setup/init/init.ts';

const wallet = 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC';
const tron = 'tron https://api.trongrid.io/jsonrpc TRON-PRO-API-KEY:key-of-trongrid requests_per_second=15';
const second = 'tron https://tron.provider.net/key-of-second/jsonrpc';
const ethereum = 'ethereum https://eth-mainnet.g.alchemy.com/v2/key-of-alchemy';
const live = ['--own-proxy', '--host', 'pay.example.com', '--endpoints', '-'];

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quittance-init-'));
  await mkdir(join(directory, 'infra'));
  await copyFile(join(repositoryRoot, 'infra', 'networks.json'), join(directory, 'infra', 'networks.json'));
  await offerEdgeAt(await freePort());
});
afterEach(() => rm(directory, { recursive: true }));

/** Sets the edge's port that init finds taken or free, on a machine where others run stacks too. */
async function offerEdgeAt(port: number): Promise<void> {
  const example = await readFile(join(repositoryRoot, '.env.example'), 'utf8');
  const here = example.replace(/^EDGE_PUBLISH=.*$/m, `EDGE_PUBLISH=127.0.0.1:${String(port)}`);
  await writeFile(join(directory, '.env.example'), here);
}

/** Runs as main.ts does, but in this process, which avoids waiting for a new process each time. */
async function init(words: string[], lines: string[] = []): Promise<{ code: number; output: string }> {
  const file = join(directory, 'infra', 'endpoints.txt');
  await writeFile(file, lines.join('\n'));
  const given = words.map((word) => (word === '-' ? file : word));
  return run({}, ['--directory', directory, ...given]).then(
    (output) => ({ code: 0, output }),
    (error: unknown) => ({ code: 1, output: (error as Error).message }),
  );
}

async function initAsProgram(words: string[], lines: string[]): Promise<{ code: number; output: string }> {
  const program = join(repositoryRoot, 'infra', 'docker', 'setup', 'main.ts');
  const child = spawn(process.execPath, [program, 'init', '--directory', directory, ...words]);
  child.stdin.on('error', () => undefined).end(lines.join('\n'));
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number, output: out + err };
}

const content = (name: string) => readFile(join(directory, name), 'utf8');
const environment = async () => parseEnv(await content('.env'));
const written = async () =>
  (await readdir(directory)).filter((name) => !['infra', '.env.example'].includes(name)).sort();

describe('npm run init', () => {
  test('writes the three files of a deployment, without a key in the one that others may read', async () => {
    const { code, output } = await initAsProgram(
      [...live, '--wallet', wallet],
      [tron, second, '# a remark', '', ethereum],
    );
    expect([code, output]).toEqual([0, expect.stringContaining('.env is written for https://pay.example.com')]);
    expect(await written()).toEqual(['.env', 'chain-watcher.env', 'networks.json']);
    expect(await environment()).toMatchObject({
      PUBLIC_BASE_URL: 'https://pay.example.com',
      NETWORKS_FILE: './networks.json',
      COMPOSE_FILE: 'docker-compose.yml:docker-compose.external.yml',
      COMPOSE_PROFILES: 'postgres,rabbitmq',
      EDGE_TRUSTED_PROXIES: '10.213.251.1',
    });
    const networks = await content('networks.json');
    expect(networks + output).not.toContain('key-of');
    expect(parseEnv(await content('chain-watcher.env'))).toEqual({
      TRON_RPC_0: 'https://api.trongrid.io/jsonrpc',
      TRON_RPC_0_TRON_PRO_API_KEY: 'key-of-trongrid',
      TRON_RPC_1: 'https://tron.provider.net/key-of-second/jsonrpc',
      ETHEREUM_RPC_0: 'https://eth-mainnet.g.alchemy.com/v2/key-of-alchemy',
    });
    const on = parseNetworks(JSON.parse(networks)).map(({ id, rpc_urls: endpoints }) => [id, endpoints]);
    expect(on).toEqual([
      ['ethereum', [{ url: '${ETHEREUM_RPC_0}' }]],
      [
        'tron',
        [
          {
            url: '${TRON_RPC_0}',
            headers: { 'TRON-PRO-API-KEY': '${TRON_RPC_0_TRON_PRO_API_KEY}' },
            requests_per_second: 15,
          },
          { url: '${TRON_RPC_1}' },
        ],
      ],
    ]);
    const modes = await Promise.all((await written()).map(async (name) => (await stat(join(directory, name))).mode));
    expect(modes.map((mode) => (mode & 0o777).toString(8))).toEqual(['600', '600', '644']);
  });

  test('warns about a network with one provider, also if it has two addresses', async () => {
    const { output } = await init(live, [
      tron,
      'tron https://other.trongrid.io/jsonrpc TRON-PRO-API-KEY:x',
      ethereum,
      second,
    ]);
    expect(output).toContain('ethereum has one provider only');
    expect(output).not.toContain('tron has one provider only');
    const again = await init(
      [...live, '--update'],
      [tron, 'tron https://other.trongrid.io/jsonrpc TRON-PRO-API-KEY:x'],
    );
    expect(again.output).toContain('tron has one provider only');
  });

  test.each([
    ['a host that is a URL', ['--host', 'https://pay.example.com'], 'give the name alone'],
    ['a host name of this machine only', ['--host', 'localhost'], 'host "localhost"'],
    ['a host that is an address', ['--host', '8.8.8.8'], 'a certificate needs a name'],
    ['a host with a typo', ['--host', 'pay_example.com'], 'host "pay_example.com"'],
    ['a host that no authority certifies', ['--host', 'pay.shop.test'], 'no authority signs'],
    ['a wallet with a typo', ['--wallet', wallet.replace('wFs', 'wFS')], 'is not an address'],
    ['a wallet that is the token', ['--wallet', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'], 'is the USDT contract of tron'],
    ['the zero address', ['--wallet', `0x${'0'.repeat(40)}`], 'is the zero address'],
    [
      'a wallet of a network that is not enabled',
      ['--wallet', '0x4b57F59031d936f01AE42dCac8704330eEC41173'],
      'is not on any enabled network',
    ],
  ])('refuses %s, and writes nothing', async (_, words, complaint) => {
    const { code, output } = await init([...live, ...words], [tron]);
    expect([code, output]).toEqual([1, expect.stringContaining(complaint)]);
    expect(await written()).toEqual([]);
  });

  test.each([
    ['an unknown network', 'trom https://a.example.com/', 'no network is called "trom"'],
    ['an unencrypted endpoint', 'tron http://tron.provider.net/jsonrpc', 'must begin with https://'],
    ['an unencrypted ws_url', `${second} ws_url=ws://tron.provider.net/`, 'must begin with wss://'],
    ['a missing key of TronGrid', 'tron https://api.trongrid.io/jsonrpc', 'the key is missing'],
    ['a missing key of Alchemy', 'ethereum https://eth-mainnet.g.alchemy.com/v2/', 'the key is missing'],
    ['a placeholder for a key', 'ethereum https://eth-mainnet.g.alchemy.com/v2/<key>', 'replace the placeholder'],
    ['a field that the file does not have', `${second} request_per_second=3`, 'request_per_second'],
    ['no URL', 'tron', 'is not followed by a URL'],
    ['an endpoint named twice', `${second}\n${second}`, 'named twice'],
  ])('refuses %s, without showing a key', async (_, lines, complaint) => {
    const { code, output } = await init(live, [lines]);
    expect([code, output]).toEqual([1, expect.stringContaining(complaint)]);
    expect(output).not.toContain('key-of');
    expect(await written()).toEqual([]);
  });

  test('accepts http for a node in your own network', async () => {
    expect(await init(live, ['ethereum http://10.1.2.3:8545'])).toMatchObject({ code: 0 });
  });

  test('reports all problems at once', async () => {
    const { output } = await init(
      ['--own-proxy', '--host', 'localhost', '--endpoints', '-'],
      ['trom https://a.example.com/'],
    );
    expect(output).toMatch(/no network is called[^]*host "localhost"/);
  });

  test('says what is missing when there is no terminal to ask', async () => {
    expect(await initAsProgram([], [])).toMatchObject({
      code: 1,
      output: expect.stringContaining('--host and --endpoints must be given'),
    });
    expect(await written()).toEqual([]);
  });

  test('refuses a port that is in use', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as { port: number };
    await offerEdgeAt(port);
    try {
      expect(await init(live, [tron])).toMatchObject({
        code: 1,
        output: expect.stringContaining(`port ${String(port)} is taken`),
      });
      expect(await written()).toEqual([]);
    } finally {
      listener.close();
    }
  });
});

describe('an existing .env', () => {
  test('is not changed without --update', async () => {
    await init(['--trial']);
    const before = await content('.env');
    const { code, output } = await init(live, [tron]);
    expect([code, output]).toEqual([1, expect.stringContaining('--update')]);
    expect([await content('.env'), await written()]).toEqual([before, ['.env']]);
  });

  test('keeps all services in one process once requested, at first or later', async () => {
    expect(await init([...live, '--single'], [tron])).toMatchObject({ code: 0 });
    const files = 'docker-compose.yml:docker-compose.external.yml:docker-compose.single.yml';
    expect(await environment()).toMatchObject({ COMPOSE_FILE: files, COMPOSE_PROFILES: 'postgres,rabbitmq' });
    const watched = files.replace('single', 'alerts');
    await writeFile(join(directory, '.env'), (await content('.env')).replace(files, watched));
    for (const time of ['once', 'twice']) {
      expect([time, (await init(['--update', '--single'])).code]).toEqual([time, 0]);
      expect(await environment()).toMatchObject({ COMPOSE_FILE: `${watched}:docker-compose.single.yml` });
    }
  });

  const [notices, single] = ['docker-compose.notices.yml', 'docker-compose.single.yml'];
  test.each([
    ['notices', [['--notices']], [notices]],
    [
      'notices and then one process',
      [['--notices'], ['--single']],
      [notices, single, 'docker-compose.single-notices.yml'],
    ],
    [
      'one process and then notices',
      [['--single'], ['--notices']],
      [notices, single, 'docker-compose.single-notices.yml'],
    ],
    [
      'both at once, and then again',
      [['--single', '--notices'], ['--notices']],
      [notices, single, 'docker-compose.single-notices.yml'],
    ],
  ])('adds the files for %s in the order in which they work', async (_, steps, files) => {
    expect(await init(live, [tron])).toMatchObject({ code: 0 });
    for (const words of steps) expect(await init(['--update', ...words])).toMatchObject({ code: 0 });
    const all = ['docker-compose.yml', 'docker-compose.external.yml', ...files];
    expect((await environment())['COMPOSE_FILE']).toBe(all.join(':'));
    expect(Object.keys(readCompose(all, (await environment()) as Record<string, string>).services)).toContain(
      'notifier',
    );
  });

  test('of a trial keeps five processes, and sends no notices', async () => {
    for (const words of [['--trial', '--single'], ['--trial'], ['--update', '--single']]) await init(words);
    expect((await init(['--update', '--single'])).output).toContain('a trial runs each of the five services');
    expect((await init(['--update', '--notices'])).output).toContain('a trial sends nothing to the outside');
    expect((await environment())['COMPOSE_FILE']).toBe('docker-compose.yml:docker-compose.trial.yml');
  });

  test('is not the only such file: an existing networks file or keys are not changed either', async () => {
    await writeFile(join(directory, 'networks.json'), '[');
    expect(await init(live, [tron])).toMatchObject({
      code: 1,
      output: expect.stringContaining('there is networks.json'),
    });
    expect(await init([...live, '--update'], [tron])).toMatchObject({
      code: 1,
      output: expect.stringContaining('the networks file is wrong already'),
    });
    expect([await content('networks.json'), await written()]).toEqual(['[', ['networks.json']]);
  });

  test('keeps its secrets and everything that is not named, and gets missing settings', async () => {
    await init(live, [tron, ethereum]);
    const before = await environment();
    const mine = `${(await content('.env')).replace(/^TLS_PUBLISH=.*\n/m, '').replace(/^LOG_LEVEL=$/m, 'LOG_LEVEL=debug')}MINE=1\n`;
    await writeFile(join(directory, '.env'), mine);
    const { code, output } = await init(['--update', '--host', 'pay2.example.com', '--endpoints', '-'], [second]);
    expect([code, output]).toEqual([0, expect.stringContaining('https://pay2.example.com')]);
    expect(await environment()).toEqual({
      ...before,
      PUBLIC_BASE_URL: 'https://pay2.example.com',
      LOG_LEVEL: 'debug',
      MINE: '1',
    });
    expect(parseEnv(await content('chain-watcher.env'))).toEqual({
      TRON_RPC_0: 'https://tron.provider.net/key-of-second/jsonrpc',
      ETHEREUM_RPC_0: 'https://eth-mainnet.g.alchemy.com/v2/key-of-alchemy',
    });
  });

  test('of a trial becomes a deployment with the same secrets, and only completely', async () => {
    expect(await init(['--trial'])).toMatchObject({ code: 0 });
    const { WEBHOOK_ENCRYPTION_KEY: key } = await environment();
    expect(await init(['--update', '--host', 'pay.example.com'])).toMatchObject({
      code: 1,
      output: expect.stringContaining('are both needed'),
    });
    expect(await init([...live, '--update'], [tron])).toMatchObject({ code: 0 });
    expect(await environment()).toMatchObject({ WEBHOOK_ENCRYPTION_KEY: key, NETWORKS_FILE: './networks.json' });
  });
});

describe('addresses and ports of the machine', () => {
  const host = ['--host', 'pay.example.com', '--endpoints', '-'];
  const ports = async () => {
    const [edge, http, https, own] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    return { edge: String(edge), http: String(http), https: String(https), own: String(own) };
  };
  /** What the files of the written .env publish, by service. */
  const published = async (profiles = '') => {
    const values = (await environment()) as Record<string, string>;
    const { services } = readCompose(values['COMPOSE_FILE']!.split(':'), { ...values, COMPOSE_PROFILES: profiles });
    const open = Object.entries(services).flatMap(([name, { ports: list }]) => (list ? [[name, list]] : []));
    return Object.fromEntries(open) as Record<string, string[]>;
  };

  test('are chosen by options, and no tracked file is changed', async () => {
    const { edge, http, https, own } = await ports();
    const example = await content('.env.example');
    const words = ['--edge', `127.0.0.2:${edge}`, '--console', `127.0.0.1:${own}`, '--tls-address', '127.0.0.1'];
    const { code, output } = await init([...host, ...words, '--http-port', http, '--https-port', https], [tron]);
    expect([code, output]).toEqual([0, expect.stringContaining('https://pay.example.com')]);
    expect(await published()).toEqual({
      edge: [`127.0.0.2:${edge}:8080`],
      console: [`127.0.0.1:${own}:8080`],
      tls: [`127.0.0.1:${http}:8080`, `127.0.0.1:${https}:8443`],
    });
    expect(await content('.env.example')).toBe(example);
    // Later, one alone: the others stay.
    expect(await init(['--update', '--tls-address', '0.0.0.0'])).toMatchObject({ code: 0 });
    expect(await published()).toMatchObject({
      edge: [`127.0.0.2:${edge}:8080`],
      tls: [`0.0.0.0:${http}:8080`, `0.0.0.0:${https}:8443`],
    });
  });

  test('of a trial are chosen in the same way, and its links lead to the edge', async () => {
    const { edge, own } = await ports();
    const words = ['--trial', '--edge', `127.0.0.1:${edge}`, '--receiver', `127.0.0.1:${own}`];
    expect(await init(words)).toMatchObject({ code: 0 });
    expect(await environment()).toMatchObject({ PUBLIC_BASE_URL: `http://localhost:${edge}` });
    expect(await published()).toMatchObject({
      edge: [`127.0.0.1:${edge}:8080`],
      receiver: [`127.0.0.1:${own}:8080`],
    });
  });

  test.each([
    ['a port alone', ['--edge', '8080'], '--edge 8080: give an IPv4 address'],
    ['a port that is none', ['--edge', '127.0.0.1:65536'], '--edge 127.0.0.1:65536'],
    ['a name', ['--console', 'localhost:8090'], '--console localhost:8090'],
    ['an IPv6 address', ['--tls-address', '::'], '--tls-address ::'],
    ['port 0', ['--http-port', '0'], '--http-port 0: give a port'],
    ['an edge that strangers reach, next to an own proxy', ['--own-proxy', '--edge', '0.0.0.0:8088'], 'could forge'],
  ])('are refused if one is %s', async (_, words, complaint) => {
    const { code, output } = await init([...host, ...words], [tron]);
    expect([code, output]).toEqual([1, expect.stringContaining(complaint)]);
    expect(await written()).toEqual([]);
  });

  test('are refused if two containers would have the same port', async () => {
    const { edge, https } = await ports();
    const words = ['--edge', `127.0.0.1:${edge}`, '--http-port', edge, '--https-port', https];
    expect((await init([...host, ...words], [tron])).output).toContain(`port ${edge} is used twice`);
  });
});

describe('backends of your own', () => {
  const withBackends = async (...lines: string[]) => {
    const file = join(directory, 'infra', 'backends.txt');
    await writeFile(file, lines.join('\n'));
    return init([...live, '--backends', file], [tron]);
  };

  test.each([
    ['another backend', 'mysql mysql://a:secret-a@db.example.com/quittance', 'begins with postgres or rabbitmq'],
    ['a URL of something else', 'postgres https://a:secret-a@db.example.com/quittance', 'must begin with postgres://'],
    ['no password', 'postgres postgres://admin@db.example.com/quittance', 'needs a user and a password'],
    ['another database', 'postgres postgres://a:secret-a@db.example.com/shop', 'which is /quittance'],
    ['the container itself', 'postgres postgres://a:secret-a@127.0.0.1/quittance', 'is the container itself'],
    ['localhost', 'rabbitmq amqp://a:secret-a@localhost/', 'is the container itself'],
    ['an unknown word', 'rabbitmq amqp://a:secret-a@broker.example.com/ pooler=x:1', 'only management='],
    ['a pooler without a port', 'postgres postgres://a:secret-a@db.example.com/quittance pooler=x', 'pooler=host:port'],
    ['a name that does not exist', 'postgres postgres://a:secret-a@db.invalid/quittance', 'db.invalid cannot be used'],
    ['a broker that does not exist', 'rabbitmq amqps://a:secret-a@broker.invalid/', 'broker.invalid cannot be used'],
  ])('are refused with %s, without the password', async (_, line, complaint) => {
    const { code, output } = await withBackends(line);
    expect([code, output]).toEqual([1, expect.stringContaining(complaint)]);
    expect(output).not.toContain('secret-a');
    expect(await written()).toEqual([]);
  });
});
