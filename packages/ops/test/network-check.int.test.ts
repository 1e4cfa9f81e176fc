import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { addressFromHex } from '@quittance/contracts/address.ts';
import type { Network, RpcEndpoint } from '@quittance/contracts/networks.ts';
import { readNetworks } from '@quittance/chain-reader/chain/networks.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import { startTronNode, type TronNode } from '@quittance/local-backends/tron/node.ts';
import { testChain, type TestChain } from '@quittance/testkit/chain.ts';
import { misbehavingNode, type Call, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { networksOf, newWallet } from '@quittance/testkit/chain/samples.ts';
import { checkEndpoint, type EndpointReport } from '../src/network-check/check.ts';
import { sumOf } from '../src/network-check/cost.ts';
import type { KnownTransfer } from '../src/network-check/history.ts';
import { runOps } from './world.ts';

let chain: TestChain;
let node: MisbehavingNode;
let known: KnownTransfer;
const [early, late] = [newWallet(), newWallet()];

beforeAll(async () => {
  chain = await testChain({ keepsStates: false });
  const hash = await chain.transfer(early, 12_340_000n);
  known = {
    chain_id: chain.chainId,
    usdt_contract: chain.token,
    transaction_id: hash.slice(2),
    transaction_event_index: 0,
    from: chain.payer,
    to: early,
    amount_units: '12340000',
    block_number: Number(await chain.rpc<string>('eth_blockNumber')),
    block_time: null,
    source: 'this test',
  };
  await chain.mine(1_200);
  // So many that the first depth which is tried has a transfer in its block.
  for (let units = 1n; units <= 140n; units += 1n) await chain.transfer(late, units);
  await chain.mine(2);
  node = await misbehavingNode(chain);
});
afterAll(async () => {
  await node.close();
  await chain.close();
});
afterEach(() => {
  node.spoil(null);
  node.refuse(null);
});

type RawReceipt = { blockNumber: string };
type Given = { endpoint?: Partial<RpcEndpoint>; entry?: Partial<Network>; known?: KnownTransfer };

function check(given: Given = {}): Promise<EndpointReport> {
  const endpoint = { url: node.url, ...given.endpoint };
  const [network] = readNetworks(networksOf({ chain, entry: { rpc_urls: [endpoint], ...given.entry } }), {});
  return checkEndpoint(network!, network!.endpoints[0]!, 0, {
    known: given.known ?? known,
    timeoutMs: 20_000,
    onProgress: () => undefined,
  });
}

const verdicts = ({ findings }: EndpointReport) =>
  Object.fromEntries(findings.map(({ check: name, verdict }) => [name, verdict]));
const found = ({ findings }: EndpointReport, name: string) => findings.find((finding) => finding.check === name);

/** The node answers these calls with this error. */
const failing = (chosen: (call: Call) => boolean, message: string, code = -32_000) =>
  node.spoil((call) => (chosen(call) ? { result: undefined, error: { code, message } } : undefined));

describe('an endpoint of an EVM network', () => {
  test('that does all the watcher needs is usable, and is told apart by what it costs', async () => {
    const ticking = setInterval(() => void chain.transfer(late, 1n).catch(() => undefined), 200);
    try {
      const wsUrl = chain.rpcUrl.replace('http', 'ws');
      // How many calls a look takes depends on the blocks that come meanwhile.
      const plan = { requests_per_day: 86_400 * 10_000, requests_per_second: 10_000 };
      const entry = { asleep_poll_interval_ms: 60_000 };
      const report = await check({ endpoint: { ws_url: wsUrl, ...plan }, entry });
      expect(report.findings.filter(({ verdict }) => verdict === 'failed')).toEqual([]);
      expect(report.usable).toBe(true);
      expect(verdicts(report)).toMatchObject({
        'chain id': 'ok',
        finalized: 'ok',
        batches: 'ok',
        'events of a block': 'ok',
        receipts: 'ok',
        ranges: 'ok',
        completeness: 'ok',
        'block proof': 'warning',
        endpoints: 'warning',
        history: 'ok',
        'a known transfer': 'ok',
        WebSocket: 'ok',
        latency: 'ok',
        'plan, requests a day': 'ok',
        'plan, requests a second': 'ok',
      });
      expect(found(report, 'batches')!.found).toBe('100 calls at once');
      expect(found(report, 'history')!.found).toMatch(/^at least 1,000 blocks/);
      expect(found(report, 'a known transfer')!.found).toContain('12.34 USDT');
      // The test chain has a block a second or more, and each is read once.
      expect(sumOf(report.cost!.first.calls)).toBeGreaterThan(86_400);
      expect(sumOf(report.cost!.asleep.calls)).toBeLessThan(86_400);
      expect(Object.keys(report.cost!.first.calls).sort()).toEqual(['eth_getBlockByNumber', 'eth_getLogs']);
      expect(sumOf(report.cost!.second.calls)).toBeLessThan(sumOf(report.cost!.first.calls));
    } finally {
      clearInterval(ticking);
    }
  });

  test('whose plan is too small is named so, with the need', async () => {
    const plan = { requests_per_day: 1_000, units_per_day: 5_000, unit_prices: 'alchemy' };
    const report = await check({ endpoint: plan });
    expect(report.cost!.first.units).toBeGreaterThan(20 * 86_400);
    expect(report.usable).toBe(false);
    expect(verdicts(report)).toMatchObject({ 'plan, requests a day': 'failed', 'plan, units a day': 'failed' });
    expect(found(report, 'plan, requests a day')!.found).toMatch(/ of 1,000$/);
  });

  test('that caps ranges stays usable, and the cap is found', async () => {
    const isLong = ({ method, params }: Call) => {
      const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string };
      return method === 'eth_getLogs' && fromBlock !== undefined && Number(toBlock) - Number(fromBlock) >= 50;
    };
    failing(isLong, 'block range is too wide, maximum is set to 50');
    const report = await check();
    expect(report).toMatchObject({ usable: true, max_block_range: 50 });
    expect(verdicts(report)).toMatchObject({ ranges: 'warning', completeness: 'ok' });
  });

  test('that names no final block is refused where transfers wait for one, and not elsewhere', async () => {
    node.spoil(({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? { result: null } : undefined,
    );
    const waiting = await check({ entry: { finality: 'finalized' } });
    expect(waiting.usable).toBe(false);
    expect(verdicts(waiting)).toMatchObject({ finalized: 'failed', completeness: 'ok' });
    expect((await check()).usable).toBe(true);
    const standIn = await check({ entry: { finality: 'finalized', confirmations_without_finalized: 27 } });
    expect(verdicts(standIn)).toMatchObject({ finalized: 'warning' });
  });

  test('that takes every tag for its newest block names no final one', async () => {
    const newest = await chain.rpc('eth_getBlockByNumber', ['latest', false]);
    node.spoil(({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? { result: newest } : undefined,
    );
    const report = await check({ entry: { finality: 'finalized' } });
    expect(found(report, 'finalized')).toMatchObject({ verdict: 'failed', found: expect.stringContaining('newest') });
  });

  test('of another chain is asked nothing else', async () => {
    node.spoil(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined));
    const before = node.calls().length;
    const report = await check();
    expect(report).toMatchObject({ usable: false, findings: [{ check: 'chain id', verdict: 'failed', found: '1' }] });
    expect(node.calls().slice(before)).toHaveLength(1);
  });

  test('that prunes is told by how far back it reads, and keeps no old transfer', async () => {
    const head = Number(await chain.rpc<string>('eth_blockNumber'));
    const isOld = ({ method, params }: Call) =>
      method === 'eth_getBlockByNumber' && Number(params[0]) < head - 500 && params[0] !== 'latest';
    node.spoil((call) => {
      if (isOld(call)) return { result: null };
      return call.method === 'eth_getTransactionReceipt' && call.params[0] === `0x${known.transaction_id}`
        ? { result: null }
        : undefined;
    });
    const report = await check();
    expect(verdicts(report)).toMatchObject({ history: 'warning', 'a known transfer': 'warning' });
    expect(found(report, 'history')!.found).toMatch(/^128 blocks .*, not 1,000/);
  });

  test('that keeps old headers and no receipts reads no further back than these', async () => {
    const head = Number(await chain.rpc<string>('eth_blockNumber'));
    node.spoil(({ method }, { result }) => {
      const isOld = method === 'eth_getTransactionReceipt' && Number((result as RawReceipt).blockNumber) < head - 100;
      return isOld ? { result: null } : undefined;
    });
    expect(found(await check(), 'history')).toMatchObject({
      verdict: 'warning',
      found: expect.stringMatching(/^less than 128 blocks/),
    });
  });

  test('that hides events of a block is refused: what it returns does not account for the headers', async () => {
    node.spoil(({ method }) => (method === 'eth_getLogs' ? { result: [] } : undefined));
    const report = await check();
    expect(report.usable).toBe(false);
    expect(verdicts(report)).toMatchObject({ 'events of a block': 'failed' });
  });

  test('that shows a known transfer otherwise is refused', async () => {
    const report = await check({ known: { ...known, amount_units: '12340001' } });
    expect(report.usable).toBe(false);
    expect(verdicts(report)).toMatchObject({ 'a known transfer': 'failed' });
  });

  test('that takes no batches is usable with a note', async () => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_600, message: 'batch is not supported' },
    });
    node.refuse((calls) => (calls.length > 1 ? { status: 200, body } : undefined));
    const report = await check();
    expect(report.usable).toBe(true);
    expect(found(report, 'batches')).toMatchObject({ verdict: 'warning', found: 'none: one call a request' });
  });

  test('without receipts is refused: no transfer could be checked', async () => {
    failing(({ method }) => /Receipt/.test(method), 'the method does not exist', -32_601);
    const report = await check();
    expect(report.usable).toBe(false);
    expect(verdicts(report)).toMatchObject({ receipts: 'failed' });
  });

  test('that wants a key in a header says so, and is usable with it', async () => {
    const keyed = createServer((request, response) => {
      if (request.headers['x-key'] !== 'a-secret-key') {
        response.writeHead(401).end('no key');
        return;
      }
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const headers = { 'content-type': 'application/json' };
        fetch(chain.rpcUrl, { method: 'POST', headers, body: Buffer.concat(chunks) })
          .then((answer) => answer.text())
          .then((text) => response.writeHead(200, headers).end(text))
          .catch(() => response.destroy());
      });
    });
    await new Promise<void>((resolve) => keyed.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(keyed.address() as AddressInfo).port}`;
    try {
      const refused = await check({ endpoint: { url } });
      expect(refused).toMatchObject({ usable: false, findings: [{ check: 'chain id', verdict: 'failed' }] });
      expect(refused.findings[0]!.meaning).toContain('key');
      expect((await check({ endpoint: { url, headers: { 'X-Key': 'a-secret-key' } } })).usable).toBe(true);
    } finally {
      keyed.closeAllConnections();
      keyed.close();
    }
  });

  test('where nothing answers is refused with a sentence', async () => {
    const report = await check({ endpoint: { url: `http://127.0.0.1:${await freePort()}` } });
    expect(report).toMatchObject({ usable: false, findings: [{ check: 'chain id', verdict: 'failed' }] });
    expect(report.findings[0]!.meaning).toBe('nothing answers there');
  });
});

describe('an endpoint of Tron', () => {
  let tron: TronNode;
  let proxy: MisbehavingNode;
  const entry = (): Partial<Network> => ({
    ...{ family: 'tron', usdt_contract: addressFromHex('tron', chain.token), default_evm: false },
    ...{ finality: 'finalized', confirmations: 19, max_block_range: 100 },
  });

  beforeAll(async () => {
    tron = await startTronNode({ ...chain, hasBlockReceipts: false });
    proxy = await misbehavingNode({ rpcUrl: tron.url });
  });
  afterAll(async () => {
    await proxy.close();
    await tron.close();
  });

  test('that answers searches without address and topics is usable', async () => {
    const report = await check({ endpoint: { url: tron.url }, entry: entry() });
    expect(report.usable).toBe(true);
    expect(verdicts(report)).toMatchObject({ 'events of a block, unfiltered': 'ok', ranges: 'ok', completeness: 'ok' });
  });

  test('that demands an address is usable by receipts, and says what that costs', async () => {
    proxy.spoil(({ method, params }) =>
      method === 'eth_getLogs' && (params[0] as { address?: string }).address === undefined
        ? { result: undefined, error: { code: -32_701, message: 'Please specify an address in your request' } }
        : undefined,
    );
    const report = await check({ endpoint: { url: proxy.url }, entry: entry() });
    expect(report.usable).toBe(true);
    const events = found(report, 'events of a block, unfiltered')!;
    expect(events.verdict).toBe('warning');
    expect(events.meaning).toContain('a call a transaction');
    expect(verdicts(report)).toMatchObject({ ranges: 'warning', completeness: 'ok' });
  });
});

describe('ops network check', () => {
  let directory: string;
  let file: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quittance-network-check-'));
    file = join(directory, 'networks.json');
    await writeFile(file, JSON.stringify(networksOf({ chain, rpcUrls: ['${TEST_URL}'] })));
  });
  afterAll(() => rm(directory, { recursive: true }));

  test('prints a table, the cost and an entry ready to be copied, and never a key', async () => {
    const { code, stdout, stderr } = await runOps(['network', 'check', file], { TEST_URL: node.url });
    expect({ code, stderr: stderr.replaceAll(/^local, endpoint 0: .*…\n/gm, '') }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('local, endpoint 0: can be used');
    expect(stdout).toMatch(/chain id +ok +31337/);
    expect(stdout).toMatch(/the first +[\d,]+/);
    expect(stdout).toContain('"${TEST_URL}"');
    expect(stdout + stderr).not.toContain('a-secret-key');
  });

  test('takes endpoints from the command line, and leaves what may be a key to a variable', async () => {
    const words = ['network', 'check', 'local', '--url', node.url, '--header', 'X-Key: a-secret-key', '--json'];
    const plan = ['--units-per-day', '1000000000', '--unit-prices', 'alchemy'];
    const { code, stdout, stderr } = await runOps([...words, ...plan], { NETWORKS_FILE: file });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject([
      {
        network: 'local',
        endpoints: [{ endpoint: 0, usable: true }],
        cost: [{ role: 'the first', units: expect.any(Number) }, { role: 'the first, asleep' }, { role: 'the second' }],
        entry: {
          rpc_urls: [
            {
              ...{ url: '${LOCAL_RPC_0_URL}', headers: { 'X-Key': '${LOCAL_RPC_0_X_KEY}' } },
              ...{ units_per_day: 1_000_000_000, unit_prices: 'alchemy' },
            },
          ],
        },
        variables: { LOCAL_RPC_0_URL: 'the URL of endpoint 0', LOCAL_RPC_0_X_KEY: 'its header X-Key' },
      },
    ]);
    expect(stdout).not.toContain('a-secret-key');
  });

  test('exits with 1 where an endpoint cannot be used, and says which', async () => {
    node.spoil(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined));
    const { code, stdout, stderr } = await runOps(['network', 'check', file], { TEST_URL: node.url });
    expect(code).toBe(1);
    expect(stdout).toContain('CANNOT BE USED');
    expect(stderr).toContain('Do not depend on endpoint 0 of local');
  });

  test.each([
    [['nowhere'], /There is no network nowhere, only: local/],
    [['./nowhere.json'], /does not exist/],
    [['local'], /TEST_URL is not set/],
    [['local', '--units-per-day', '1000'], /units_per_day needs unit_prices/],
    [['local', '--unit-prices', 'eth_getLogs=60'], /expected the name of a list/],
    [['local', '--units-per-day', '1000', '--unit-prices', 'nobody'], /names no list that we have: alchemy/],
  ])('%j is refused with a sentence', async (words, sentence) => {
    const { code, stderr } = await runOps(['network', 'check', ...words], { NETWORKS_FILE: file });
    expect(code).toBe(2);
    expect(stderr).toMatch(sentence);
  });

  test('a file that is no JSON is named, and nothing of it quoted', async () => {
    const broken = join(directory, 'broken.json');
    await writeFile(broken, '[{ "rpc_urls": ["https://rpc.example/a-secret-key] }]');
    const { code, stderr } = await runOps(['network', 'check', broken], {});
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is no networks file') });
    expect(stderr).not.toContain('a-secret');
  });

  test('a shipped network without endpoints asks for one', async () => {
    const { code, stderr } = await runOps(['network', 'check', 'tron'], {});
    expect(code).toBe(2);
    expect(stderr).toMatch(/name one with --url/);
  });
});
