import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { createBudget } from '../src/rpc/throttle.ts';
import { RpcError, type RpcErrorKind } from '../src/rpc/errors.ts';
import { RpcProvider, type RpcProviderOptions } from '../src/rpc/provider.ts';
import { echo, failed, scriptedNode, type Reply, type ScriptedNode } from './scripted-node.ts';
import type { Call } from '@quittance/testkit/chain/misbehaving-node.ts';

let node: ScriptedNode;
let rpc: RpcProvider;
let observed: [string, number][] = [];

afterEach(async () => {
  rpc.destroy();
  await node.close();
});

async function start(
  answer: (calls: Call[], isList: boolean) => Reply | null,
  { requestsPerSecond = null, ...options }: Partial<RpcProviderOptions> & { requestsPerSecond?: number | null } = {},
): Promise<void> {
  node = await scriptedNode(answer);
  observed = [];
  rpc = new RpcProvider({
    ...{ endpoint: 0, url: node.url, headers: {}, chainId: 1, timeoutMs: 30_000, maxResponseBytes: 1_000_000 },
    budget: createBudget(requestsPerSecond, { maxWaitMs: 60_000 }),
    onExchange: (outcome, _, methods) => void observed.push([outcome, methods.length]),
    ...{ onHead: () => undefined, isProven: false, onFalse: () => undefined },
    ...options,
  });
}

const honest = (calls: Call[], isList: boolean): Reply => ({ body: isList ? calls.map(echo) : echo(calls[0]!) });

const compressed = (body: object): Reply => ({
  body: gzipSync(JSON.stringify(body)),
  headers: { 'content-encoding': 'gzip' },
});

/** This many calls at once, numbered from 1. */
const askAll = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, at) => rpc.send('eth_number', [at + 1]) as Promise<string>));

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `eth_number ${at + 1}`);

const errorOf = async (asking: Promise<unknown>): Promise<RpcError> => {
  const error = await asking.then(
    () => new Error('it was answered'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof RpcError)) throw error;
  return error;
};

describe('a batch', () => {
  test('is sent in one exchange, and its answers may have any order', async () => {
    await start((calls) => ({ body: calls.map(echo).reverse() }));
    expect(await askAll(100)).toEqual(numbered(100));
    expect(node.exchanges.length).toBe(1);
    expect(observed).toEqual([['ok', 100]]);
  });

  test.each<[string, (answers: object[]) => unknown]>([
    ['leaves one out', (answers) => answers.slice(1)],
    ['answers one twice', ([first, ...rest]) => [first, first, ...rest.slice(1)]],
    ['answers one more', (answers) => [...answers, { jsonrpc: '2.0', id: 999_999, result: '0x1' }]],
    ['answers another one', (answers) => [{ jsonrpc: '2.0', id: 999_999, result: '0x1' }, ...answers.slice(1)]],
    ['has an entry without result or error', (answers) => [{ ...answers[0], result: undefined }, ...answers.slice(1)]],
    ['has ids that are texts', (answers) => answers.map((answer) => ({ ...answer, id: 'one' }))],
    ['is empty', () => []],
    ['is a single answer', (answers) => answers[0]],
    ['is null', () => null],
    ['is HTML', () => '<html>Just a moment…</html>'],
    ['is cut off', (answers) => JSON.stringify(answers).slice(0, -5)],
  ])('whose answer %s fails as a whole, and no call waits forever', async (_, spoil) => {
    await start((calls) => ({ body: spoil(calls.map(echo)) }));
    const errors = await Promise.all([1, 2, 3].map((number) => errorOf(rpc.send('eth_number', [number]))));
    expect(errors.map(({ kind }) => kind)).toEqual(['invalid_answer', 'invalid_answer', 'invalid_answer']);
  });

  test('may contain failures of single calls, which fail only those', async () => {
    await start((calls) => ({ body: [failed(calls[0]!, -32000, 'unknown block'), ...calls.slice(1).map(echo)] }));
    const [first, second] = await Promise.allSettled([rpc.send('eth_number', [1]), rpc.send('eth_number', [2])]);
    expect(first).toMatchObject({ status: 'rejected', reason: { kind: 'unknown_block' } });
    expect(second).toEqual({ status: 'fulfilled', value: 'eth_number 2' });
  });
});

describe('a single call', () => {
  test.each<[string, (call: Call) => unknown, RpcErrorKind]>([
    ['is answered under another id', (call) => ({ ...echo(call), id: call.id + 1 }), 'invalid_answer'],
    ['is answered without an id', ({ method }) => ({ jsonrpc: '2.0', result: method }), 'invalid_answer'],
    ['fails without an id', () => ({ id: null, error: { code: -32000, message: 'unknown block' } }), 'unknown_block'],
    ['fails with a text alone', (call) => ({ id: call.id, error: 'Too Many Requests' }), 'rate_limit'],
    ['fails the way of Tron', () => ({ Error: 'java.lang.Exception : lack of computing resources' }), 'rate_limit'],
    [
      'fails with the reason next to the message',
      (call) => ({
        id: call.id,
        error: { code: -32602, message: 'Invalid params', data: { range: 'range 5 exceeds limit of 2' } },
      }),
      'range',
    ],
  ])('that %s is rejected with its text', async (_, answer, kind) => {
    await start(([call]) => ({ body: answer(call!) }));
    expect((await errorOf(rpc.send('eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x9' }]))).kind).toBe(kind);
  });

  test('whose answer has an error of null has succeeded', async () => {
    await start(([call]) => ({ body: { ...echo(call!), error: null } }));
    expect(await rpc.send('eth_number', [1])).toBe('eth_number 1');
  });

  test("for the head reports the node's head", async () => {
    const heads: unknown[] = [];
    await start(honest, { onHead: (head) => void heads.push(head) });
    await rpc.send('eth_getBlockByNumber', ['latest', false]);
    await rpc.send('eth_getBlockByNumber', ['finalized', false]);
    expect(heads).toEqual(['eth_getBlockByNumber latest']);
  });
});

describe('an HTTP failure', () => {
  test.each<[number, unknown, RpcErrorKind, string]>([
    [500, [{ id: 0, error: { code: 31, message: 'lookup failed' } }], 'unreachable', 'HTTP 500 lookup failed'],
    [402, { error: { code: -32000, message: 'your account is not allowed' } }, 'rate_limit', 'HTTP 402 your account'],
    [403, { Success: false, Error: 'exceeds the frequency limit(15)' }, 'rate_limit', 'frequency limit'],
    [403, { error: { code: -32000, message: 'key a-secret-key is over' } }, 'refused', 'key [redacted] is over'],
    [400, { code: -32600, message: 'block range is too wide' }, 'range', 'too wide'],
    [429, 'Too Many Requests', 'rate_limit', 'HTTP 429'],
    [502, '<html>Bad Gateway</html>', 'unreachable', 'HTTP 502'],
    [200, '<html>Just a moment…</html>', 'invalid_answer', 'not a JSON-RPC answer'],
  ])('of status %d with the body %j is %s', async (status, body, kind, text) => {
    await start(() => ({ status, body }));
    const error = await errorOf(rpc.send('eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x9' }]));
    expect(error).toMatchObject({ kind, message: expect.stringContaining(text) });
    expect(error.message).not.toContain('a-secret-key');
  });

  test('never shows a part of a key where its text is cut', async () => {
    const texts = Array.from({ length: 14 }, (_, more) => `${'x'.repeat(280 + more)} a-secret-key`);
    await start(([call]) => ({ body: failed(call!, 1, texts.pop() ?? '') }));
    while (texts.length > 0) {
      const { message } = await errorOf(rpc.send('eth_number', [1]));
      expect(message).not.toMatch(/a-sec/);
    }
  });

  test('never shows a key that was sent in a header', async () => {
    await start(([call]) => ({ body: failed(call!, 1, `no such key: ${node.headers[0]!['x-key']?.toString()}`) }), {
      headers: { 'x-key': 'Bearer another-secret-key' },
    });
    const { message } = await errorOf(rpc.send('eth_number', [1]));
    expect(message).toContain('no such key');
    expect(message).not.toContain('another-secret-key');
  });

  test('keeps the time from Retry-After', async () => {
    await start(() => ({ status: 429, body: '', headers: { 'retry-after': '7' } }));
    expect(await errorOf(rpc.send('eth_number', [1]))).toMatchObject({ kind: 'rate_limit', retryAfterMs: 7_000 });
  });

  test('of a batch with Retry-After fails all of it', async () => {
    await start((calls) => ({
      status: 429,
      body: calls.map((call) => failed(call, 429, 'slow down')),
      headers: { 'retry-after': '7' },
    }));
    const errors = await Promise.all([1, 2].map((number) => errorOf(rpc.send('eth_number', [number]))));
    expect(errors).toMatchObject([{ retryAfterMs: 7_000 }, { retryAfterMs: 7_000 }]);
  });
});

describe('a batch that is too large for the node', () => {
  const refusals: [string, (calls: Call[]) => Reply][] = [
    ['as geth does, in a list of one', ([first]) => ({ body: [failed(first!, -32600, 'batch too large')] })],
    [
      'as java-tron does, in an object',
      () => ({ body: { id: null, error: { code: -32005, message: 'Batch size 9 exceeds the limit of 3' } } }),
    ],
    [
      'as dRPC does, with HTTP 500',
      () => ({
        status: 500,
        body: [{ id: 0, error: { code: 31, message: 'Batch of more than 3 requests are not allowed' } }],
      }),
    ],
    [
      'in every entry',
      (calls) => ({ body: calls.map((call) => failed(call, 31, 'Batch of more than 3 requests are not allowed')) }),
    ],
    ['as a proxy does, with HTTP 413', () => ({ status: 413, body: '<html>Request Entity Too Large</html>' })],
  ];

  test.each(refusals)('%s is sent in parts from then on', async (_, refuse) => {
    await start((calls, isList) => (calls.length > 3 ? refuse(calls) : honest(calls, isList)));
    expect(await askAll(50)).toEqual(numbered(50));
    const before = node.exchanges.length;
    expect(await askAll(50)).toEqual(numbered(50));
    expect(node.exchanges.slice(before).every((calls) => calls.length <= 3)).toBe(true);
  });

  test('is sent call by call to a node that accepts no batches', async () => {
    await start((calls, isList) =>
      isList
        ? { body: failed(calls[0]!, -32005, 'Batched requests are not supported by this server') }
        : honest(calls, false),
    );
    expect(await askAll(9)).toEqual(numbered(9));
  });

  test('counts as a request that is too large once it is a single call', async () => {
    await start(() => ({ status: 413, body: '' }));
    expect((await errorOf(rpc.send('eth_number', [1]))).kind).toBe('range');
  });
});

describe('a range that is too large for the node', () => {
  const tooWide = ([call]: Call[]): Reply => ({ body: failed(call!, -32005, 'limit exceeded') });

  test('has to be requested in smaller parts', async () => {
    await start(tooWide);
    const error = await errorOf(rpc.send('eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x2' }]));
    expect(error.kind).toBe('range');
  });

  test.each([[{ blockHash: '0xab' }], [{ fromBlock: '0x1', toBlock: '0x1' }]])(
    'of one block (%j) cannot be smaller: this node does not answer it',
    async (filter) => {
      await start(tooWide);
      expect((await errorOf(rpc.send('eth_getLogs', [filter]))).kind).toBe('unsupported');
    },
  );
});

describe('an answer', () => {
  test('is requested compressed, and may come uncompressed', async () => {
    await start(([call]) => compressed(echo(call!)));
    expect(await rpc.send('eth_number', [1])).toBe('eth_number 1');
    expect(node.headers[0]?.['accept-encoding']).toBe('gzip');
  });

  test('that fails with a status is read, too', async () => {
    await start(([call]) => ({ ...compressed(failed(call!, -32000, 'daily request limit reached')), status: 429 }));
    expect(await errorOf(rpc.send('eth_number', [1]))).toMatchObject({ kind: 'rate_limit' });
  });

  test.each<[string, Reply]>([
    ['that is not gzip', { body: 'plain', headers: { 'content-encoding': 'gzip' } }],
    ['that is cut off', { body: gzipSync('"x"').subarray(0, -4), headers: { 'content-encoding': 'gzip' } }],
    ['in an encoding that nobody asked for', { body: '"x"', headers: { 'content-encoding': 'br' } }],
  ])('%s is not used', async (_, reply) => {
    await start(() => reply);
    expect((await errorOf(rpc.send('eth_number', [1]))).kind).toBe('invalid_answer');
  });
});

describe('the limits', () => {
  test('an answer that is too large is refused while it is read', async () => {
    await start(([call]) => ({ body: { ...echo(call!), result: 'x'.repeat(100_000) } }), { maxResponseBytes: 50_000 });
    expect((await errorOf(rpc.send('eth_number', [1]))).kind).toBe('range');
  });

  test('an answer that is too large once it is decompressed is refused', async () => {
    await start(([call]) => compressed({ ...echo(call!), result: 'x'.repeat(100_000) }), { maxResponseBytes: 50_000 });
    expect((await errorOf(rpc.send('eth_number', [1]))).kind).toBe('range');
  });

  test('a request to a node that never answers ends at the deadline', async () => {
    await start(() => null, { timeoutMs: 100 });
    expect((await errorOf(rpc.send('eth_number', [1]))).kind).toBe('timeout');
  });

  test('a batch that is larger than a second of the budget is sent in parts', async () => {
    await start(honest, { requestsPerSecond: 50 });
    expect(await askAll(80)).toEqual(numbered(80));
    expect(node.exchanges.map((calls) => calls.length)).toEqual([50, 30]);
  });

  test('closing fails requests in progress and later ones with our own errors', async () => {
    await start(() => null);
    const asking = errorOf(rpc.send('eth_number', [1]));
    await eventually(() => expect(node.exchanges.length).toBe(1));
    const waiting = errorOf(rpc.send('eth_number', [2]));
    rpc.destroy();
    const later = errorOf(rpc.send('eth_number', [3]));
    expect((await Promise.all([asking, waiting, later])).map(({ kind }) => kind)).toEqual([
      'unreachable',
      'unreachable',
      'unreachable',
    ]);
  });
});
