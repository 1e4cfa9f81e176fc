import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { freePortBase, ownEnvironment } from '../support/journey-stack.ts';

/** For a start that fails while they run: a broker and a chain that need not be started first. */
const elsewhere = { AMQP_URL: 'amqp://127.0.0.1:1', CHAIN_RPC_URL: 'http://127.0.0.1:1' };
const repository = join(import.meta.dirname, '..', '..');
const { scripts } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

type Ended = { code: number | null; output: string };

/** Runs one npm command of the stack as a person would, on its own data and ports. */
const npm = (words: string[], env: Record<string, string>): Promise<Ended> =>
  run(['npm', 'run', '--silent', ...words], env);

/** The same without npm in front, which takes as much processor time as a command that is refused: what package.json has npm run. */
function script([name = '', ...words]: string[], env: Record<string, string>): Promise<Ended> {
  const [program = '', ...before] = (scripts[name] ?? '').split(' ');
  return run([program, ...before, ...words.filter((word) => word !== '--')], env);
}

function run([program = '', ...words]: string[], env: Record<string, string>): Promise<Ended> {
  const child = spawn(program, words, {
    cwd: repository,
    env: { ...ownEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

describe('the commands of the local stack', () => {
  let directory: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quittance-commands-'));
    env = { LOCAL_DIRECTORY: directory, PORT_BASE: String(await freePortBase(1)) };
  });

  afterAll(async () => {
    await npm(['reset'], env);
    await rm(directory, { recursive: true, force: true });
  });

  const readStack = async (): Promise<StackFile> =>
    JSON.parse(await readFile(join(directory, 'stack.json'), 'utf8')) as StackFile;

  test.each([
    [['start', '--', '--frobnicate'], {}, /unknown option '--frobnicate'/],
    [['start', '--', '--replicas', '0'], {}, /whole number from 1 to/],
    [['start'], { PORT_BASE: 'eighty' }, /PORT_BASE must be a whole number/],
    [['start'], { EDGE_TRUSTED_PROXIES: 'proxy.example' }, /EDGE_TRUSTED_PROXIES must list addresses or networks/],
    [['start', '--', '--network', 'ethereum'], {}, /Allowed choices are tron/],
    [['start', '--', '--network', 'tron'], { NETWORKS_FILE: 'own.json' }, /NETWORKS_FILE of your own/],
    [['start', '--', '--forward', 'localhost:3000'], {}, /not the address of an endpoint, such as http/],
    [['pay', '--', 'http://127.0.0.1:1/pay/nothing'], {}, /not running/],
    [['listen'], {}, /not running/],
    [['shop'], {}, /not running/],
    [['ops', '--', 'merchant', 'list'], {}, /not running|npm start/],
    [
      ['start'],
      { WEBHOOK_LOCAL_RECEIVER: '127.0.0.1:9', POSTGRES_URL: 'postgres://nobody@127.0.0.1:1/none' },
      /decides these settings itself; unset them: WEBHOOK_LOCAL_RECEIVER/,
    ],
    [['start'], { ...elsewhere, POSTGRES_URL: 'postgres://nobody@127.0.0.1:1/none' }, /POSTGRES_URL|PostgreSQL/],
  ])('%j with %j ends with a sentence that says what is wrong', async (words, extra, sentence) => {
    const { code, output } = await script(words, { ...env, ...extra });
    expect(code).not.toBe(0);
    expect(output).toMatch(sentence);
    expect(output).not.toMatch(/^\s+at /m);
  });

  test('a taken port is named, with the way out', async () => {
    const taken = Number(env['PORT_BASE']) + 2;
    const stranger = createServer().listen(taken, '127.0.0.1');
    const { code, output } = await script(['start', '--', '--no-demo'], { ...env, ...elsewhere });
    stranger.close();
    expect(code).not.toBe(0);
    expect(output).toContain(String(taken));
    expect(output).toContain('PORT_BASE');
  });

  test('it starts in the background, says where everything is, and takes a payment', async () => {
    const started = await npm(['start', '--', '--detach', '--quiet-demo'], env);
    expect(started).toMatchObject({
      code: 0,
      output: expect.stringMatching(/The payment is finished: pay_[0-9a-f]{32}/),
    });

    const stackFile = join(directory, 'stack.json');
    expect((await stat(stackFile)).mode & 0o777).toBe(0o600);
    const stack = await readStack();
    expect(Object.keys(stack)).toEqual([
      'edge_url',
      'gateway_url',
      'console_url',
      'services',
      'signing_keys',
      'postgres_url',
      'amqp_url',
      'amqp_urls',
      'management_url',
      'chain',
      'merchant',
      'receiver',
      'ca',
      'logs',
    ]);
    expect((await fetch(`${stack.console_url}/sign-in`)).status).toBe(200);
    const { payment_url, payment_id } = await create(stack, '12.34');
    const paid = await npm(['pay', '--', payment_url, '--wait'], env);
    expect(paid).toMatchObject({ code: 0, output: expect.stringContaining('PAID') });
    const shown = await npm(['ops', '--', 'payment', 'show', payment_id, '--json'], env);
    expect(JSON.parse(shown.output)).toMatchObject({ payment_id, status: 'PAID' });
  });

  test('webhooks go to an endpoint of one’s own, which decides the answer, and are shown', async () => {
    const endpoint = createHttpServer(
      (request, response) => void request.resume().on('end', () => response.writeHead(202).end()),
    );
    endpoint.listen(0, '127.0.0.1');
    await once(endpoint, 'listening');
    const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/webhook`;
    const main = join(repository, 'infra', 'local', 'commands', 'listen.ts');
    const listening = spawn(process.execPath, [main, '--forward', url], { env: { ...ownEnvironment(), ...env } });
    let shown = '';
    listening.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    await eventually(() => expect(shown).toContain('Ctrl-C ends it'));
    const { payment_url, payment_id } = await create(await readStack(), '23.45');
    await npm(['pay', '--', payment_url], env);
    await eventually(() => expect(shown).toMatch(new RegExp(`PAID ${payment_id} .* answered 202`)));
    listening.kill('SIGINT');
    expect(await once(listening, 'exit')).toEqual([0, null]);
    endpoint.closeAllConnections();
    endpoint.close();
  });

  test('a second start beside a running one is refused', async () => {
    const { code, output } = await script(['start', '--', '--no-demo'], env);
    expect(code).not.toBe(0);
    expect(output).toMatch(/already running/);
  });

  test('after a kill -9 of everything a new start goes on where it stood, now with a Tron', async () => {
    const before = await readStack();
    const { payment_url, payment_id } = await create(before, '56.78');
    process.kill(Number(await readFile(join(directory, 'stack.pid'), 'utf8')), 'SIGKILL');
    const started = await npm(['start', '--', '--detach', '--no-demo', '--network', 'tron'], env);
    expect(started).toMatchObject({ code: 0, output: expect.stringContaining('Quittance is running') });
    const after = await readStack();
    expect(after.merchant).toEqual(before.merchant);
    const [, tronUrl = ''] = /on Tron +(\S+)/.exec(started.output) ?? [];
    const onTron = npm(['pay', '--', tronUrl, '--wait'], env);
    await npm(['pay', '--', payment_url, '--wait'], env);
    const shown = await npm(['ops', '--', 'payment', 'show', payment_id, '--json'], env);
    expect(JSON.parse(shown.output)).toMatchObject({ payment_id, status: 'PAID' });
    expect(await onTron).toMatchObject({ code: 0, output: expect.stringContaining(`to ${after.tron!.wallet}`) });
  }, 300_000);

  test('stopping ends every process, and stopping again says that nothing runs', async () => {
    expect(await npm(['stop'], env)).toMatchObject({ code: 0, output: expect.stringContaining('stopped') });
    expect(await npm(['stop'], env)).toMatchObject({ code: 0, output: expect.stringContaining('not running') });
    await expect(stat(join(directory, 'stack.json'))).rejects.toThrow('ENOENT');
  });

  test('damaged local data is named, with the way out', async () => {
    await writeFile(join(directory, 'secrets.json'), '{ "signing_keys": ');
    const { code, output } = await script(['start', '--', '--no-demo'], env);
    expect(code).not.toBe(0);
    expect(output).toMatch(/secrets\.json is damaged.*npm run reset/);
  });
});

async function create(stack: StackFile, amount: string): Promise<{ payment_id: string; payment_url: string }> {
  const answer = await fetch(`${stack.edge_url}/api/v1/payments`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': stack.merchant.api_key, 'Idempotency-Key': amount },
    body: JSON.stringify({ amount, merchant_wallet: stack.merchant.wallet, description: 'Commands' }),
  });
  expect(answer.status).toBe(201);
  return (await answer.json()) as { payment_id: string; payment_url: string };
}
