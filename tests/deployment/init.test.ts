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

/** The port of the edge is the one that init finds taken or not, on a machine where others run stacks too. */
async function offerEdgeAt(port: number): Promise<void> {
  const example = await readFile(join(repositoryRoot, '.env.example'), 'utf8');
  const here = example.replace(/^EDGE_PUBLISH=.*$/m, `EDGE_PUBLISH=127.0.0.1:${String(port)}`);
  await writeFile(join(directory, '.env.example'), here);
}

/** As main.ts runs it, in this process: each of these would otherwise wait for a process of its own. */
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
  test('makes the three files of a deployment, without a key in the one that others may read', async () => {
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

  test('warns of a network with one provider, two addresses of which are still one', async () => {
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
    ['a host of one machine', ['--host', 'localhost'], 'host "localhost"'],
    ['a host that is an address', ['--host', '8.8.8.8'], 'a certificate needs a name'],
    ['a host with a slip', ['--host', 'pay_example.com'], 'host "pay_example.com"'],
    ['a host that nobody certifies', ['--host', 'pay.shop.test'], 'no authority signs'],
    ['a wallet with a slip', ['--wallet', wallet.replace('wFs', 'wFS')], 'is no address'],
    ['a wallet that is the token', ['--wallet', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'], 'is the USDT contract of tron'],
    ['the zero address', ['--wallet', `0x${'0'.repeat(40)}`], 'is the zero address'],
    ['a wallet of a chain that is off', ['--wallet', '0x4b57F59031d936f01AE42dCac8704330eEC41173'], 'is on no network'],
  ])('refuses %s, and writes nothing', async (_, words, complaint) => {
    const { code, output } = await init([...live, ...words], [tron]);
    expect([code, output]).toEqual([1, expect.stringContaining(complaint)]);
    expect(await written()).toEqual([]);
  });

  test.each([
    ['an unknown network', 'trom https://a.example.com/', 'no network is called "trom"'],
    ['an endpoint in the open', 'tron http://tron.provider.net/jsonrpc', 'must begin with https://'],
    ['an announcer in the open', `${second} ws_url=ws://tron.provider.net/`, 'must begin with wss://'],
    ['a missing key of TronGrid', 'tron https://api.trongrid.io/jsonrpc', 'the key is missing'],
    ['a missing key of Alchemy', 'ethereum https://eth-mainnet.g.alchemy.com/v2/', 'the key is missing'],
    ['what stands for a key', 'ethereum https://eth-mainnet.g.alchemy.com/v2/<key>', 'put the key itself'],
    ['a field that the file does not have', `${second} request_per_second=3`, 'request_per_second'],
    ['no URL', 'tron', 'is followed by no URL'],
    ['an endpoint named twice', `${second}\n${second}`, 'named twice'],
  ])('refuses %s, without showing a key', async (_, lines, complaint) => {
    const { code, output } = await init(live, [lines]);
    expect([code, output]).toEqual([1, expect.stringContaining(complaint)]);
    expect(output).not.toContain('key-of');
    expect(await written()).toEqual([]);
  });

  test('takes a node of your own network by http', async () => {
    expect(await init(live, ['ethereum http://10.1.2.3:8545'])).toMatchObject({ code: 0 });
  });

  test('tells of everything that is wrong at once', async () => {
    const { output } = await init(
      ['--own-proxy', '--host', 'localhost', '--endpoints', '-'],
      ['trom https://a.example.com/'],
    );
    expect(output).toMatch(/no network is called[^]*host "localhost"/);
  });

  test('says what is missing where nobody can be asked', async () => {
    expect(await initAsProgram([], [])).toMatchObject({
      code: 1,
      output: expect.stringContaining('--host and --endpoints must be given'),
    });
    expect(await written()).toEqual([]);
  });

  test('refuses a port that somebody listens on', async () => {
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

describe('an .env that is there', () => {
  test('is not touched without being told', async () => {
    await init(['--trial']);
    const before = await content('.env');
    const { code, output } = await init(live, [tron]);
    expect([code, output]).toEqual([1, expect.stringContaining('--update')]);
    expect([await content('.env'), await written()]).toEqual([before, ['.env']]);
  });

  test('has all services in one process from then on if that is asked for, at first or later', async () => {
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

  test('of a trial stays one of five processes', async () => {
    for (const words of [['--trial', '--single'], ['--trial'], ['--update', '--single']]) await init(words);
    expect((await init(['--update', '--single'])).output).toContain('a trial runs the five services');
    expect((await environment())['COMPOSE_FILE']).toBe('docker-compose.yml:docker-compose.trial.yml');
  });

  test('is not the only one: a networks file or keys by hand are not touched either', async () => {
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

  test('keeps its secrets and all that is not named, and gets the settings that it lacks', async () => {
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

  test('of a trial goes live with the same secrets, and only whole', async () => {
    expect(await init(['--trial'])).toMatchObject({ code: 0 });
    const { WEBHOOK_ENCRYPTION_KEY: key } = await environment();
    expect(await init(['--update', '--host', 'pay.example.com'])).toMatchObject({
      code: 1,
      output: expect.stringContaining('belong together'),
    });
    expect(await init([...live, '--update'], [tron])).toMatchObject({ code: 0 });
    expect(await environment()).toMatchObject({ WEBHOOK_ENCRYPTION_KEY: key, NETWORKS_FILE: './networks.json' });
  });
});
