import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testChain, type TestChain } from '@quittance/testkit/chain.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createEndpoints, type Endpoints } from '../src/rpc/endpoints.ts';
import { RpcError } from '../src/rpc/errors.ts';
import type { RpcProvider } from '../src/rpc/provider.ts';
import { readBlockAt, readHead } from '../src/rpc/reads.ts';
import {
  misbehavingNode,
  type Answer,
  type Call,
  type MisbehavingNode,
} from '@quittance/testkit/chain/misbehaving-node.ts';

let chain: TestChain;
let nodes: MisbehavingNode[] = [];
let endpoints: Endpoints;

beforeAll(async () => {
  chain = await testChain();
});
afterAll(() => chain.close());
afterEach(async () => {
  endpoints.close();
  await Promise.all(nodes.map((node) => node.close()));
});

const metrics = createMetrics({ service: 'test', processMetrics: false });
const plain = { headers: {}, wsUrl: null, dailyPlan: null };
const OFTEN_MS = 50;
const NEVER_MS = 3_600_000;

/** Nodes of one chain, each of which may misbehave. */
async function start(
  count: number,
  { probeIntervalMs = NEVER_MS, requestsPerSecond = [] as (number | null)[] } = {},
): Promise<MisbehavingNode[]> {
  nodes = await Promise.all(Array.from({ length: count }, () => misbehavingNode(chain)));
  endpoints = createEndpoints({
    network: {
      ...{ id: 'local', chain_id: chain.chainId, isProven: false },
      endpoints: nodes.map(({ url }, at) => ({ ...plain, url, requestsPerSecond: requestsPerSecond[at] ?? null })),
    },
    ...{ timeoutMs: 20_000, logger: testLogger, metrics, probeIntervalMs },
  });
  return nodes;
}

/** A small version of a scan: reads the head and the block of that height. @returns the endpoint that answered. */
async function readHeadBlock(rpc: RpcProvider): Promise<number> {
  const { number } = await readHead(rpc);
  if ((await readBlockAt(rpc, number)) === null) throw new RpcError('unknown_block', 'the node lacks its own head');
  return rpc.endpoint;
}

/** Blocks for a minute. Those of mine() all have the same timestamp. */
const mineOld = () => chain.rpc('anvil_mine', ['0x3c', '0x1']);

const who = () => endpoints.ask(readHeadBlock);
// Endpoints are asked for their heads only while another one is read.
const whileReading = (read: () => Promise<unknown>, check: () => void) => eventually(() => read().then(check));
const stateOf = (position: number) => endpoints.states()[position]!;
const failWith = (kind: 'invalid_answer' | 'unknown_block' | 'range') => () =>
  Promise.reject(new RpcError(kind, 'said the test'));

/** Opens the circuit of every endpoint by repeated failures. */
async function exhaust(times = 4): Promise<void> {
  for (let asked = 0; asked < times; asked += 1) await endpoints.ask(failWith('invalid_answer')).catch(() => undefined);
}

describe('among healthy endpoints', () => {
  test('only the first one in the file is asked', async () => {
    const [, second] = await start(2);
    expect([await who(), await who(), await who()]).toEqual([0, 0, 0]);
    expect(second!.requests()).toBe(0);
  });

  test('one other than a given endpoint is found, or none', async () => {
    await start(2);
    expect(await endpoints.askAnother(readHeadBlock, 0)).toBe(1);
    expect(await endpoints.askAnother(readHeadBlock, 1)).toBe(0);
    endpoints.close();
    await Promise.all(nodes.map((node) => node.close()));
    await start(1);
    expect(await endpoints.askAnother(readHeadBlock, 0)).toBeNull();
  });

  test('all are asked, one after the other, until the answers are enough', async () => {
    const [, second] = await start(3);
    expect(await endpoints.askUntil(readHeadBlock, (answers) => answers.length === 2)).toEqual([0, 1]);
    second!.replaceAll('drop');
    expect(await endpoints.askUntil(readHeadBlock, () => false)).toEqual([0, 2]);
  });

  test('a request that is too large is not sent to the next one', async () => {
    await start(2);
    const asked: number[] = [];
    const tooLarge = (rpc: RpcProvider) => {
      asked.push(rpc.endpoint);
      return Promise.reject(new RpcError('range', 'said the test'));
    };
    await expect(endpoints.ask(tooLarge)).rejects.toMatchObject({ kind: 'range' });
    expect(asked).toEqual([0]);
  });

  test('an error that does not come from the node ends the read immediately', async () => {
    await start(2);
    await expect(endpoints.ask(() => Promise.reject(new TypeError('ours')))).rejects.toThrow(TypeError);
    expect(endpoints.states()).toMatchObject([{ failures: {} }, { failures: {} }]);
  });

  test('an only endpoint gets no extra requests', async () => {
    const [only] = await start(1, { probeIntervalMs: OFTEN_MS });
    const alone = endpoints;
    await alone.ask(readHeadBlock);
    const requests = only!.requests();
    const [, other] = await start(2, { probeIntervalMs: OFTEN_MS });
    await whileReading(who, () => expect(other!.requests()).toBeGreaterThan(5));
    expect(only!.requests()).toBe(requests);
    expect(alone.states()).toMatchObject([{ state: 'closed', head_lag_blocks: 0 }]);
    alone.close();
    await only!.close();
  });
});

describe('an endpoint that is stuck at an old head', () => {
  test('comes last until it has caught up, although it is the first and answers everything', async () => {
    const [first] = await start(2, { probeIntervalMs: OFTEN_MS });
    await mineOld();
    expect(await who()).toBe(0);
    first!.lag(40);
    await eventually(async () => expect(await who()).toBe(1));
    expect(stateOf(0)).toMatchObject({ state: 'lagging', head_lag_blocks: 40 });
    expect(stateOf(1)).toMatchObject({ state: 'closed', head_lag_blocks: 0 });
    first!.lag(0);
    await eventually(async () => expect(await who()).toBe(0));
    expect(stateOf(0)).toMatchObject({ state: 'closed', head_lag_blocks: 0 });
  });

  test('is still asked when no other one answers', async () => {
    const [first, second] = await start(2, { probeIntervalMs: OFTEN_MS });
    await mineOld();
    first!.lag(40);
    await eventually(async () => expect(await who()).toBe(1));
    second!.replaceAll('drop');
    expect(await who()).toBe(0);
  });

  test('is detected by one small request at a time', async () => {
    const [, second] = await start(2, { probeIntervalMs: OFTEN_MS });
    const calls: string[] = [];
    second!.spoil((call) => void calls.push(call.method));
    await whileReading(who, () => expect(calls.length).toBeGreaterThan(5));
    expect(calls[0]).toBe('eth_chainId');
    expect(new Set(calls.slice(1))).toEqual(new Set(['eth_getBlockByNumber']));
  });
});

describe('an endpoint that claims a head far above all others', () => {
  const claim = (call: Call, answer: Answer): Partial<Answer> | undefined => {
    if (call.method !== 'eth_getBlockByNumber' || call.params[0] !== 'latest') return undefined;
    const { number, timestamp } = answer.result as { number: string; timestamp: string };
    const raised = (hex: string, by: number) => `0x${(Number(hex) + by).toString(16)}`;
    return { result: { ...(answer.result as object), number: raised(number, 1e6), timestamp: raised(timestamp, 1e7) } };
  };

  test('does not make others count as lagging once it could not show the blocks', async () => {
    const [, liar] = await start(3, { probeIntervalMs: OFTEN_MS });
    liar!.spoil(claim);
    const asked: number[] = [];
    const look = (rpc: RpcProvider) => {
      asked.push(rpc.endpoint);
      return readHeadBlock(rpc);
    };
    await eventually(async () => {
      expect(await endpoints.ask(look)).not.toBe(1);
      expect(asked).toContain(1);
    });
    // From then on its claims are ignored, for longer than the test takes.
    for (let reads = 0; reads < 20; reads += 1) expect(await endpoints.ask(look)).toBe(0);
    expect(asked.filter((position) => position === 1).length).toBe(1);
    expect(endpoints.states()).toMatchObject([{ state: 'closed', head_lag_blocks: 0 }, {}, { state: 'closed' }]);
    expect(stateOf(1).head).toBeGreaterThan(1e6);
  });

  test('does no harm even when it is the first one', async () => {
    const [liar] = await start(2, { probeIntervalMs: OFTEN_MS });
    liar!.spoil(claim);
    for (let reads = 0; reads < 5; reads += 1) expect(await who()).toBe(1);
    await eventually(() => expect(stateOf(1)).toMatchObject({ state: 'closed', head_lag_blocks: 0 }));
  });
});

describe('an endpoint that limits our rate', () => {
  const refusal = (headers: Record<string, string> = {}) => ({ status: 429, body: 'Too Many Requests', headers });

  test('is asked once, and then not again for the time it names', async () => {
    const [first] = await start(2);
    first!.replaceAll(refusal({ 'retry-after': '60' }));
    for (let reads = 0; reads < 5; reads += 1) expect(await who()).toBe(1);
    expect(first!.requests()).toBe(1);
    const { state, cooldown_until: until } = stateOf(0);
    expect(state).toBe('cooling_down');
    expect(Date.parse(until!)).toBeGreaterThan(Date.now());
    expect(Date.parse(until!)).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  test('is not asked for its head either', async () => {
    const [first, , third] = await start(3, { probeIntervalMs: OFTEN_MS });
    first!.replaceAll(refusal({ 'retry-after': '60' }));
    const elsewhere = () => endpoints.askAnother(readHeadBlock, 0);
    await whileReading(elsewhere, () => expect(stateOf(0).state).toBe('cooling_down'));
    const before = third!.requests();
    await whileReading(elsewhere, () => expect(third!.requests()).toBeGreaterThan(before + 5));
    expect(first!.requests()).toBe(1);
  });

  test('is back in its place when that time has passed', async () => {
    const [first] = await start(2);
    first!.replaceAll(refusal({ 'retry-after': '1' }));
    expect(await who()).toBe(1);
    first!.replaceAll(null);
    await eventually(async () => expect(await who()).toBe(0));
    expect(stateOf(0)).toMatchObject({ state: 'closed', cooldown_until: null, failures: { rate_limit: 1 } });
  });

  test('also cools down when it answers 503 with Retry-After, and its circuit stays closed', async () => {
    const [first] = await start(2);
    first!.replaceAll({ status: 503, body: '', headers: { 'retry-after': '60' } });
    expect(await Promise.all([who(), who(), who(), who()])).toEqual([1, 1, 1, 1]);
    expect(stateOf(0)).toMatchObject({ state: 'cooling_down', failures: { unreachable: 4 } });
  });

  test('is waited for briefly when there is no other one', async () => {
    const [only] = await start(1);
    // Longer than the delay between the refusal and the next line, and short enough for a read to wait.
    only!.replaceAll(refusal({ 'retry-after': '1' }));
    await expect(who()).rejects.toMatchObject({ kind: 'rate_limit' });
    expect(stateOf(0).state).toBe('cooling_down');
    only!.replaceAll(null);
    expect(await who()).toBe(0);
  });

  test('is not waited for when that would take long: the read fails immediately', async () => {
    const [only] = await start(1);
    only!.replaceAll(refusal({ 'retry-after': '120' }));
    await expect(who()).rejects.toMatchObject({ kind: 'rate_limit' });
    await expect(who()).rejects.toMatchObject({ kind: 'rate_limit' });
    expect(only!.requests()).toBe(1);
  });
});

describe('a budget', () => {
  test('that is used up sends reads to another endpoint', async () => {
    const [first] = await start(2, { requestsPerSecond: [0.01] });
    // It allows only the request for the chain's id, for longer than any test.
    expect(await endpoints.ask((rpc) => Promise.resolve(rpc.endpoint))).toBe(0);
    expect(await who()).toBe(1);
    expect(first!.requests()).toBe(1);
    expect(stateOf(0)).toMatchObject({ state: 'closed', failures: {} });
  });

  test('that is used up on every endpoint makes reads wait', async () => {
    await start(1, { requestsPerSecond: [20] });
    const answers = await Promise.all(Array.from({ length: 15 }, () => who()));
    expect(answers).toEqual(Array.from({ length: 15 }, () => 0));
    expect(stateOf(0)).toMatchObject({ failures: {}, requests: 45 });
  });

  test('that would take too long to wait for starts no cooldown', async () => {
    await start(1, { requestsPerSecond: [0.01] });
    await expect(who()).rejects.toMatchObject({ kind: 'no_budget' });
    expect(stateOf(0)).toMatchObject({ state: 'closed', requests: 1, failures: { no_budget: 1 } });
  });

  test('is not spent on asking for heads', async () => {
    const [, second, third] = await start(3, { probeIntervalMs: OFTEN_MS, requestsPerSecond: [null, 0.01] });
    await whileReading(who, () => expect(stateOf(1).failures).toEqual({ no_budget: 1 }));
    const before = third!.requests();
    await whileReading(who, () => expect(third!.requests()).toBeGreaterThan(before + 5));
    // It allowed only the request for the chain's id.
    expect(second!.requests()).toBe(1);
    expect(stateOf(1).failures).toEqual({ no_budget: 1 });
  });
});

describe('an endpoint that fails', () => {
  test('is skipped for the next one, and its failures are counted by cause', async () => {
    const [first] = await start(2);
    first!.replaceAll({ status: 502, body: 'Bad Gateway' });
    expect(await who()).toBe(1);
    first!.replaceAll({ status: 200, body: '<html>' });
    expect(await who()).toBe(1);
    expect(stateOf(0)).toMatchObject({
      failures: { unreachable: 1, invalid_answer: 1 },
      last_error: 'invalid_answer: the body is not a JSON-RPC answer to the request',
    });
    expect(Date.parse(stateOf(0).last_error_at!)).toBeLessThanOrEqual(Date.now());
  });

  test('repeatedly opens its circuit, which closes again even if no read needs it', async () => {
    const [first] = await start(2, { probeIntervalMs: OFTEN_MS });
    first!.replaceAll('drop');
    for (let reads = 0; reads < 4; reads += 1) expect(await who()).toBe(1);
    // It is half-open for a moment now and then, when the next probe is due.
    await eventually(() => expect(stateOf(0).state).toBe('open'));
    first!.replaceAll(null);
    await eventually(() => expect(stateOf(0).state).toBe('closed'));
    expect(await who()).toBe(0);
  });

  test('is asked last while its circuit is half-open', async () => {
    const [first] = await start(2);
    first!.replaceAll('drop');
    for (let reads = 0; reads < 4; reads += 1) expect(await who()).toBe(1);
    first!.replaceAll(null);
    await eventually(() => expect(stateOf(0).state).toBe('half_open'));
    expect(await who()).toBe(1);
    expect(await endpoints.askAnother(readHeadBlock, 1)).toBe(0);
    expect(await who()).toBe(0);
  });

  test('because it does not have blocks is asked again: a pruned node still has the head', async () => {
    await start(1);
    for (let reads = 0; reads < 10; reads += 1)
      await expect(endpoints.ask(failWith('unknown_block'))).rejects.toMatchObject({ kind: 'unknown_block' });
    expect(stateOf(0).state).toBe('closed');
    expect(await who()).toBe(0);
  });

  test('is reported with its own error, not with that of an endpoint that was not asked', async () => {
    const [first, second] = await start(2);
    second!.replaceAll({ status: 429, body: '', headers: { 'retry-after': '60' } });
    await expect(endpoints.askAnother(readHeadBlock, 0)).rejects.toMatchObject({ kind: 'rate_limit' });
    first!.replaceAll({ status: 403, body: '' });
    await expect(who()).rejects.toMatchObject({ kind: 'refused' });
  });

  test('when all circuits are open fails the read without a request', async () => {
    await start(2);
    await exhaust();
    const asked: number[] = [];
    await expect(endpoints.ask(async (rpc) => asked.push(rpc.endpoint))).rejects.toMatchObject({
      kind: 'unreachable',
      message: 'unreachable: the circuit of the endpoint is open',
    });
    expect(asked).toEqual([]);
  });

  test('because it belongs to another chain is never read from', async () => {
    const [first] = await start(2, { probeIntervalMs: OFTEN_MS });
    first!.spoil((call) => (call.method === 'eth_chainId' ? { result: '0x1' } : undefined));
    const calls: string[] = [];
    for (let reads = 0; reads < 5; reads += 1)
      await endpoints.ask(async (rpc) => {
        calls.push(`${rpc.endpoint}`);
        return readHeadBlock(rpc);
      });
    expect(new Set(calls)).toEqual(new Set(['1']));
    await expect(endpoints.askAnother(readHeadBlock, 1)).rejects.toThrow();
    expect(stateOf(0)).toMatchObject({ head: null, last_error: 'wrong_chain: chain id 1 instead of 31337' });
  });
});

test('closing ends reads that wait for an answer, a cooldown or a budget', async () => {
  const [first] = await start(1, { requestsPerSecond: [1] });
  const waiting = [who(), who(), who()].map((read) => read.then(() => 'answered').catch((error: unknown) => error));
  await eventually(() => expect(first!.requests()).toBeGreaterThan(0));
  endpoints.close();
  for (const outcome of await Promise.all(waiting)) expect(outcome).toBeInstanceOf(RpcError);
});

test('the states of endpoints have stable field names, and no URL', async () => {
  await start(2, { probeIntervalMs: OFTEN_MS });
  nodes[0]!.replaceAll({ status: 403, body: '{"error":{"code":-32000,"message":"key a-secret-key is over"}}' });
  await who();
  await eventually(() => expect(stateOf(1).latency_ms).not.toBeNull());
  expect(endpoints.states()).toEqual([
    {
      ...{ endpoint: 0, state: expect.any(String), head: null, head_lag_blocks: 0, latency_ms: null },
      ...{ requests: expect.any(Number), failures: { refused: expect.any(Number) } },
      ...{ last_error: 'refused: HTTP 403 key [redacted] is over', last_error_at: expect.any(String) },
      ...{ cooldown_until: null, budget: null },
    },
    {
      ...{ endpoint: 1, state: 'closed', head: Number(await chain.rpc('eth_blockNumber')), head_lag_blocks: 0 },
      ...{ latency_ms: { p50: expect.any(Number), p95: expect.any(Number) }, requests: expect.any(Number) },
      ...{ failures: {}, last_error: null, last_error_at: null, cooldown_until: null },
      budget: null,
    },
  ]);
  const { text } = await metrics.render();
  expect(text).toMatch(/^chain_rpc_failures_total\{.*endpoint="0",cause="refused".*\} \d+$/m);
  expect(text).toMatch(/^chain_rpc_requests_total\{.*network="local",endpoint="1".*\} \d+$/m);
  expect(text).toMatch(/^chain_endpoint_available\{.*endpoint="1".*\} 1$/m);
  expect(text).toMatch(/^chain_endpoint_head_lag_blocks\{.*endpoint="1".*\} 0$/m);
  expect(JSON.stringify(endpoints.states()) + text).not.toMatch(/a-secret-key|127\.0\.0\.1/);
});
