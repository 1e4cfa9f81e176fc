import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { merchantErrorCategories } from '@quittance/contracts/webhook.ts';
import { createKeyVault } from '@quittance/runtime/key-vault.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { processEnvironment } from '@quittance/testkit/service-process.ts';
import { rehearse, REHEARSAL_KEYS } from '../../../packages/sdk/src/rehearse/rehearse.ts';
import { readConfig } from '../src/config.ts';
import { deliveryHeaders } from '../src/sending/signature.ts';
import { status, type Received } from './receiver.ts';
import { startWorld, type Merchant, type World } from './world.ts';

const page = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');

/** A program of the page, by the file name in its first line. */
function programNamed(file: string): string {
  const blocks = [...page.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
  const program = blocks.find((code) => code.split('\n')[0]?.includes(` ${file}:`));
  if (program === undefined) throw new Error(`the page has no ${file}`);
  return program;
}

const encryptionKey = randomBytes(32);
const vault = createKeyVault(encryptionKey);
let world: World;
let directory: string;
const running: ChildProcess[] = [];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quittance-receiver-'));
  world = await startWorld({ settings: { WEBHOOK_ENCRYPTION_KEY: encryptionKey.toString('base64') } });
});
afterEach(() => running.splice(0).forEach((child) => child.kill('SIGKILL')));
afterAll(async () => {
  await world.stop();
  await rm(directory, { recursive: true });
});

/** Starts the receiver from the page. @returns its output. */
async function begin(signingKeys: Record<string, string | null>): Promise<() => string> {
  const file = 'receiver.mjs';
  const path = join(directory, file);
  await writeFile(path, programNamed(file));
  const env = { ...processEnvironment(), SIGNING_KEYS: JSON.stringify(signingKeys), PORT: '0' };
  const child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return () => output;
}

/** The receiver from the page as a separate process. */
async function run(signingKeys: Record<string, string>) {
  const said = await begin(signingKeys);
  const port = await eventually(() => {
    const [, found] = /^listening on (\d+)$/m.exec(said()) ?? [];
    if (found === undefined) throw new Error(`it does not listen: ${said()}`);
    return found;
  });
  return {
    url: `http://127.0.0.1:${port}/`,
    /** Forwards a request, as the server that terminates TLS would. @returns the status of the answer. */
    async post(headers: Record<string, string>, body: Buffer): Promise<number> {
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers,
        body: new Uint8Array(body),
      });
      return response.status;
    },
    /** What it has done. */
    paid: () =>
      said()
        .split('\n')
        .filter((line) => line.startsWith('paid ')),
  };
}

/** All our headers that a dispatcher sent. */
const sentHeaders = ({ headers }: Received): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      /^(x-service-|webhook-|content-type$)/.test(name) ? [[name, String(value)]] : [],
    ),
  );

/** Makes the dispatcher send a payment's event, until this many of its requests have arrived. */
async function requestsFor(merchant: Merchant, host: string, many: number): Promise<Received[]> {
  const before = world.receiver.received(host).length;
  await world.pay(merchant);
  return eventually(() => {
    const requests = world.receiver.received(host).slice(before);
    expect(requests).toHaveLength(many);
    return requests;
  });
}

describe('the receiver of the page', () => {
  test('accepts events, acts on each once, and accepts both keys after a rotation', async () => {
    const merchant = await world.merchant();
    world.receiver.answer(merchant.host, status(500), status(200));
    const [first, again] = (await requestsFor(merchant, merchant.host, 2)) as [Received, Received];
    const rotated = await world.call('POST', `/merchants/${merchant.merchantId}/webhook/rotate-key`);
    const [other] = (await requestsFor(merchant, merchant.host, 1)) as [Received];

    const oldKey = { [merchant.keyId]: merchant.signingKey };
    const before = await run(oldKey);
    expect(await before.post(sentHeaders(first), first.body)).toBe(204);
    expect(await before.post(sentHeaders(other), other.body)).toBe(400);
    const receiver = await run({ ...oldKey, [rotated.body.key_id]: rotated.body.signing_key });
    const answers = [];
    for (const request of [first, again, again, other])
      answers.push(await receiver.post(sentHeaders(request), request.body));
    expect(answers).toEqual([204, 204, 204, 204]);
    const payments = [first, other].map(
      ({ body }) => (JSON.parse(body.toString()) as { payment_id: string }).payment_id,
    );
    await eventually(() => expect(receiver.paid()).toEqual(payments.map((id) => `paid ${id} 10.50`)));
  });

  test('refuses changed requests, and those that are too old or too new', async () => {
    const merchant = await world.merchant();
    const [request] = (await requestsFor(merchant, merchant.host, 1)) as [Received];
    const { keyId, signingKey } = merchant;
    const receiver = await run({ [keyId]: signingKey });
    const sent = sentHeaders(request);
    const { body } = request;
    const eventId = sent['x-service-event-id']!;
    const signedFor = (seconds: number, id = eventId) => ({
      ...deliveryHeaders({ eventId: id, keyId, secret: signingKey, body, now: new Date(Date.now() + seconds * 1000) }),
    });
    const without = (name: string) => Object.fromEntries(Object.entries(sent).filter(([header]) => header !== name));
    const changed = Buffer.from(body.toString().replace('10.50', '99.50'));
    const written = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1));
    const refused: [Record<string, string>, Buffer][] = [
      [sent, changed],
      [sent, written],
      [{ ...sent, 'x-service-timestamp': String(Number(sent['x-service-timestamp']) + 1) }, body],
      [{ ...sent, 'x-service-timestamp': `0${'0'.repeat(12)}` }, body],
      [{ ...sent, 'x-service-timestamp': '1e9' }, body],
      [{ ...sent, 'x-service-signature': sent['x-service-signature']!.replace('v1=', 'v2=') }, body],
      [{ ...sent, 'x-service-signature': '' }, body],
      [{ ...sent, 'x-service-key-id': '__proto__' }, body],
      [signedFor(-400), body],
      [signedFor(400), body],
      [signedFor(0, `evt_${'0'.repeat(32)}`), body],
      ...Object.keys(sent)
        .filter((name) => name.startsWith('x-service-'))
        .map((name): [Record<string, string>, Buffer] => [without(name), body]),
    ];
    const answers = [];
    for (const [headers, bytes] of refused) answers.push(await receiver.post(headers, bytes));
    expect(answers).toEqual(refused.map(() => 400));
    expect(receiver.paid()).toEqual([]);
    // The same receiver accepts the request as it was sent, and one that is 200 seconds old.
    expect(await receiver.post(signedFor(-200), body)).toBe(204);
    expect(await receiver.post(sent, body)).toBe(204);
  });

  test.each(['', null, 'whsec_'])(
    'never starts with the signing key %j, with which anybody could sign',
    async (key) => {
      const said = await begin({ [REHEARSAL_KEYS[0].id]: REHEARSAL_KEYS[0].key, whk_2: key });
      await eventually(() => expect(said()).toMatch(/^(Error: |listening on )/m));
      expect(said()).toContain('Error: a signing key begins with whsec_');
      expect(said()).not.toContain('listening');
    },
  );

  test('passes the rehearsal', async () => {
    const { url } = await run(Object.fromEntries(REHEARSAL_KEYS.map(({ id, key }) => [id, key])));
    const { checks } = await rehearse({ url, keys: REHEARSAL_KEYS, timeoutMs: 60_000 });
    expect(checks.filter(({ result }) => result !== 'ok' && result !== 'unseen')).toEqual([]);
  });
});

/** The signing key as 0.2.0 and earlier issued them. */
async function withOlderKey(merchant: Merchant): Promise<Merchant> {
  const signingKey = `whsec_${randomBytes(32).toString('base64url')}`;
  const { secret_encrypted: sealed } = vault.seal(merchant.keyId, signingKey);
  await world.pool.query('update signing_key set secret_encrypted = $2 where key_id = $1', [merchant.keyId, sealed]);
  return { ...merchant, signingKey };
}

describe.each(['standardwebhooks', 'svix'])('with the library %s, the program of the page', (library) => {
  type Request = { headers: Record<string, string>; body: Buffer; key: string };

  let root: string;
  beforeAll(async () => {
    root = join(directory, library);
    await mkdir(root);
    await symlink(new URL('../node_modules', import.meta.url), join(root, 'node_modules'));
    const program = programNamed('standard.mjs').replace("'standardwebhooks'", `'${library}'`);
    await writeFile(join(root, 'standard.mjs'), program);
  });

  /** @returns for each request the event's id, or the message of the error. */
  async function outcomes(requests: readonly Request[]): Promise<string[]> {
    const given = requests.map(({ headers, body, key }) => [headers, body.toString('base64'), key]);
    const main = `
      import { verifiedEvent } from './standard.mjs';
      const said = (headers, body, key) => {
        try { return verifiedEvent(headers, Buffer.from(body, 'base64'), key).event_id; } catch (error) { return error.message; }
      };
      console.log(JSON.stringify(${JSON.stringify(given)}.map((request) => said(...request))));`;
    await writeFile(join(root, 'main.mjs'), main);
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'main.mjs')]);
    return JSON.parse(stdout) as string[];
  }

  test('accepts what the dispatcher sends, and nothing that was changed, is old or has another key', async () => {
    const [merchant, other] = [await world.merchant(), await world.merchant()];
    const [request] = (await requestsFor(merchant, merchant.host, 1)) as [Received];
    const [headers, body] = [sentHeaders(request), request.body];
    const eventId = headers['webhook-id']!;
    const [key, keyId] = [merchant.signingKey, merchant.keyId];
    const signedFor = (seconds: number) =>
      deliveryHeaders({ eventId, keyId, secret: key, body, now: new Date(Date.now() + seconds * 1_000) });
    const changed = Buffer.from(body.toString().replace('10.50', '99.50'));
    const mismatch = 'No matching signature found';
    expect(
      await outcomes([
        { headers, body, key },
        { headers, body: changed, key },
        { headers: { ...headers, 'webhook-id': `evt_${'0'.repeat(32)}` }, body, key },
        { headers: signedFor(-400), body, key },
        { headers: signedFor(400), body, key },
        { headers, body, key: other.signingKey },
      ]),
    ).toEqual([
      (JSON.parse(body.toString()) as { event_id: string }).event_id,
      ...[mismatch, mismatch, 'Message timestamp too old', 'Message timestamp too new', mismatch],
    ]);
  });

  test('gets the headers with the first rotation of an older key, without which ours alone are sent', async () => {
    const merchant = await withOlderKey(await world.merchant());
    world.receiver.answer(merchant.host, status(500), status(200));
    const [before] = (await requestsFor(merchant, merchant.host, 2)) as [Received];
    const sent = sentHeaders(before);
    expect(Object.keys(sent).filter((name) => name.startsWith('webhook-'))).toEqual([]);
    const receiver = await run({ [merchant.keyId]: merchant.signingKey });
    expect(await receiver.post(sent, before.body)).toBe(204);
    const { body: rotated } = await world.call('POST', `/merchants/${merchant.merchantId}/webhook/rotate-key`);
    const [after] = (await requestsFor(merchant, merchant.host, 1)) as [Received];
    const request = { headers: sentHeaders(after), body: after.body, key: rotated.signing_key };
    expect(await outcomes([request])).toEqual([after.headers['x-service-event-id']]);
  });
});

describe('the page', () => {
  test('shows a request with a valid signature', () => {
    const [, headers = '', body = ''] = /```http\n(POST[\s\S]*?)\n\n(.*)\n```/.exec(page) ?? [];
    const shown = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(headers)?.[1];
    const [, secret = ''] = /With the key `(whsec_[^`]+)`/.exec(page) ?? [];
    const expected = deliveryHeaders({
      ...{
        eventId: (JSON.parse(body) as { event_id: string }).event_id,
        keyId: shown('X-Service-Key-ID') ?? '',
        secret,
      },
      ...{ body: Buffer.from(body), now: new Date(Number(shown('X-Service-Timestamp')) * 1000) },
    });
    const names = Object.keys(expected) as (keyof typeof expected)[];
    expect(Object.fromEntries(names.map((name) => [name, shown(name)]))).toEqual(expected);
    expect(shown('Content-Length')).toBe(String(Buffer.byteLength(body)));
  });

  test('shows the headers and fields that are sent, and no others', async () => {
    const merchant = await world.merchant();
    const [request] = (await requestsFor(merchant, merchant.host, 1)) as [Received];
    const [, headers = '', body = ''] = /```http\n(POST[\s\S]*?)\n\n(.*)\n```/.exec(page) ?? [];
    const shown = [...headers.matchAll(/^([\w-]+): /gm)].map(([, name = '']) => name.toLowerCase());
    // It is about the connection, not about the event.
    const sent = Object.keys(request.headers).filter((name) => name !== 'connection');
    expect(shown.sort()).toEqual(sent.sort());
    expect(Object.keys(JSON.parse(body) as object)).toEqual(Object.keys(JSON.parse(request.body.toString()) as object));
  });

  test('has every error category, and the default retry delays', () => {
    const [, table = ''] = /^\| `error_category` .*\n((?:\|.*\n)+)/m.exec(page) ?? [];
    const categories = [...table.matchAll(/^\| `([a-z_0-9]+)` /gm)].map(([, name]) => name);
    expect(categories.sort()).toEqual([...merchantErrorCategories].sort());
    const [, cells = ''] = /^\| Pause +\|(.*)\|$/m.exec(page) ?? [];
    const units: Record<string, number> = { s: 1, min: 60, h: 3600 };
    const seconds = cells.split('|').map((cell) => {
      const [number, unit = ''] = cell.trim().split(' ');
      return Number(number) * (units[unit] ?? Number.NaN);
    });
    const { retryDelaysSeconds } = readConfig({
      ...{ PORT: '0', DATABASE_URL: 'postgres://x/y', AMQP_URL: 'amqp://x', INTERNAL_TOKEN: 'x'.repeat(32) },
      WEBHOOK_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
    });
    expect(seconds).toEqual(retryDelaysSeconds);
  });
});
