import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import {
  misbehavingNode,
  type Answer,
  type Call,
  type MisbehavingNode,
} from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { cursorOf, headOf, watchedWallet } from './support.ts';
import type { RunningWatcher } from './watcher.ts';
import { startWorld, untilReceived, untilScanned, untilWatched, type World } from './world.ts';

type RawLog = Record<string, unknown> & { transactionHash: string };
const logsOf = (answer: Answer) => answer.result as RawLog[];

describe('a faulty node', () => {
  let world: World;
  let node: MisbehavingNode;
  let watcher: RunningWatcher;

  beforeAll(async () => {
    world = await startWorld();
    node = await misbehavingNode(world.chain);
    watcher = world.watch({ rpcUrls: [node.url] });
  });
  afterAll(async () => {
    await world.close();
    await node.close();
  });
  afterEach(() => {
    node.spoil(null);
    node.replaceAll(null);
    node.lag(0);
  });

  /** The node fails in this way while a payment arrives: nothing is skipped, and all is published once it behaves. */
  async function expectNothingLost(misbehave: () => void): Promise<void> {
    const wallet = await watchedWallet(world);
    await untilScanned(world);
    const before = await cursorOf(world);
    const requests = node.requests();
    misbehave();
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(2);
    await eventually(() => expect(node.requests()).toBeGreaterThan(requests + 3));
    expect(await cursorOf(world)).toBe(before);
    expect(world.received.some(({ to }) => to === wallet)).toBe(false);
    node.spoil(null);
    node.replaceAll(null);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  }

  const onLogs = (change: (logs: RawLog[]) => unknown) => (call: Call, answer: Answer) =>
    call.method === 'eth_getLogs' && answer.result ? { result: change(logsOf(answer)) } : undefined;

  test.each<[string, () => void]>([
    ['answers an empty list for a block whose filter says otherwise', () => node.spoil(onLogs(() => []))],
    [
      'shows logs of another block',
      () => node.spoil(onLogs((logs) => logs.map((log) => ({ ...log, blockHash: `0x${'1'.repeat(64)}` })))),
    ],
    [
      'invents an amount',
      () => node.spoil(onLogs((logs) => logs.map((log) => ({ ...log, data: `0x${'f'.repeat(64)}` })))),
    ],
    [
      'has no receipt',
      () => node.spoil((call) => (call.method === 'eth_getTransactionReceipt' ? { result: null } : undefined)),
    ],
    [
      'does not have the block by its hash',
      () =>
        node.spoil(({ method }) => {
          if (method === 'eth_getLogs') return { result: [] };
          return method === 'eth_getBlockByHash' ? { result: null } : undefined;
        }),
    ],
    ['answers HTML', () => node.replaceAll({ status: 200, body: '<html>Just a moment…</html>' })],
    ['refuses us for asking too often', () => node.replaceAll({ status: 429, body: 'Too Many Requests' })],
    [
      'puts an error into HTTP 200',
      () =>
        node.replaceAll({ status: 200, body: '{"Error":"class java.lang.Exception : lack of computing resources"}' }),
    ],
    ['closes connections', () => node.replaceAll('drop')],
    ['leaves out half of a batch', () => node.replaceAll({ status: 200, body: '[]' })],
  ])('that %s stops the cursor and loses nothing', async (_, misbehave) => {
    await expectNothingLost(misbehave);
  });

  test('that returns the events of a failed transaction is not believed', async () => {
    const wallet = await watchedWallet(world);
    node.spoil((call, answer) =>
      call.method === 'eth_getTransactionReceipt' && answer.result
        ? { result: { ...answer.result, status: '0x0' } }
        : undefined,
    );
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(3);
    await untilScanned(world);
    // A message about it may still be on its way.
    const recipient = Buffer.from(wallet.slice(2), 'hex');
    const { rows } = await world.pool.query('select 1 from transfer where recipient = $1', [recipient]);
    expect(rows).toEqual([]);
  });

  test('that shows an old head of the same chain, as a lagging one does, retracts nothing', async () => {
    const wallet = await watchedWallet(world);
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(2);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await untilScanned(world);
    const [before, requests] = [await cursorOf(world), node.requests()];
    node.lag(4);
    await eventually(() => expect(node.requests()).toBeGreaterThan(requests + 5));
    expect(await cursorOf(world)).toBe(before);
    node.lag(0);
    await world.chain.mine(1);
    await untilScanned(world);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });

  test('that calls its newest block final, because it does not know the tag, does not make the next reorg a halt', async () => {
    const wallet = await watchedWallet(world);
    let newest: unknown = null;
    node.spoil((call, answer) => {
      if (call.method !== 'eth_getBlockByNumber') return undefined;
      if (call.params[0] === 'latest') newest = answer.result;
      return call.params[0] === 'finalized' && newest !== null ? { result: newest } : undefined;
    });
    await world.chain.transfer(wallet, 5n);
    await untilReceived(world, wallet, ['seen']);
    await world.chain.reorg(1);
    await untilReceived(world, wallet, ['seen', 'retracted']);
    await untilScanned(world);
  });

  test('without new blocks takes one request for each poll', async () => {
    await watchedWallet(world);
    await untilScanned(world);
    const calls: string[] = [];
    node.spoil((call) => void calls.push(call.method));
    // A back-fill for the wallet, or the audit, may still be running.
    await eventually(() => {
      const latest = calls.slice(-6);
      expect(latest).toHaveLength(6);
      expect(new Set(latest)).toEqual(new Set(['eth_getBlockByNumber']));
    });
  });

  test('never has its URL, which holds a key, shown', async () => {
    node.replaceAll({ status: 403, body: '{"error":{"code":-32000,"message":"key a-secret-key is over"},"id":null}' });
    const state = await eventually(async () => {
      const { body } = await watcher.call('GET', '/internal/v1/chains');
      expect(body).toMatchObject([{ endpoints: [{ last_error: expect.stringContaining('is over') }] }]);
      return JSON.stringify(body);
    });
    expect(state).not.toContain('a-secret-key');
    expect(await watcher.metrics.registry.metrics()).not.toContain('a-secret-key');
  });
});

describe('a node that wants smaller requests', () => {
  const isLong = ({ method, params }: Call) => {
    const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string };
    return method === 'eth_getLogs' && fromBlock !== undefined && Number(toBlock) - Number(fromBlock) >= 10;
  };

  test.each<[string, (node: MisbehavingNode) => void]>([
    [
      'names its limit',
      (node) =>
        node.spoil((call) =>
          isLong(call)
            ? { result: undefined, error: { code: -32005, message: 'exceed maximum block range: 10' } }
            : undefined,
        ),
    ],
    ['is too slow for more', (node) => node.refuse((calls) => (calls.some(isLong) ? 'stall' : undefined))],
  ])('and %s is asked for less, both far behind and in a back-fill', async (_, limit) => {
    const world = await startWorld();
    const node = await misbehavingNode(world.chain);
    const first = world.watch({ rpcUrls: [node.url] });
    const wallet = await watchedWallet(world);
    await untilScanned(world);
    await first.close();
    const createdAt = new Date();
    await world.chain.transfer(wallet, 5n);
    const late = newWallet();
    await world.chain.transfer(late, 6n);
    await world.chain.mine(500);
    limit(node);
    world.watch({ rpcUrls: [node.url], rpcTimeoutMs: 1_000 });
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await world.publishPaymentCreated({ recipient: late, created_at: createdAt.toISOString() });
    await untilReceived(world, late, ['seen', 'confirmed']);
    await world.close();
    await node.close();
  });
});

describe('several endpoints', () => {
  let world: World;
  let first: MisbehavingNode;
  let watcher: RunningWatcher;
  beforeAll(async () => {
    world = await startWorld();
  });
  beforeEach(async () => {
    first = await misbehavingNode(world.chain);
  });
  afterEach(async () => {
    await watcher.close();
    await first.close();
  });
  afterAll(() => world.close());

  test('a false answer of the first one only causes a delay: the next one is asked', async () => {
    first.spoil((call) => (call.method === 'eth_getLogs' ? { result: [] } : undefined));
    watcher = world.watch({ rpcUrls: [first.url, world.chain.rpcUrl] });
    const wallet = await watchedWallet(world);
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(2);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    expect(first.requests()).toBeGreaterThan(0);
  });

  test('an endpoint of another chain is never used', async () => {
    first.spoil((call) => (call.method === 'eth_chainId' ? { result: '0x1' } : undefined));
    watcher = world.watch({ rpcUrls: [first.url, world.chain.rpcUrl] });
    const wallet = await watchedWallet(world);
    await world.chain.transfer(wallet, 5n);
    await untilReceived(world, wallet, ['seen']);
    const { body } = await watcher.call('GET', '/internal/v1/chains');
    expect(body).toMatchObject([
      { endpoints: [{ last_error: 'wrong_chain: chain id 1 instead of 31337' }, { last_error: null }] },
    ]);
  });

  test("a node like Tron's, without Bloom filter, state root or safe tag, is supported", async () => {
    first.spoil((call, answer) => {
      if (!call.method.startsWith('eth_getBlock') || !answer.result) return undefined;
      return { result: { ...answer.result, logsBloom: `0x${'0'.repeat(512)}`, stateRoot: '0x' } };
    });
    watcher = world.watch({ rpcUrls: [first.url], finality: 'finalized' });
    const wallet = await watchedWallet(world);
    await world.chain.transfer(wallet, 5n);
    await untilReceived(world, wallet, ['seen']);
    await world.chain.mine(70);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });
});

describe('a node that has pruned its history', () => {
  /** Of blocks below this height it keeps the headers, and answers an empty list for their events. */
  const prunedBelow =
    (height: number) =>
    (call: Call, answer: Answer): Partial<Answer> | undefined =>
      call.method === 'eth_getLogs' && answer.result
        ? { result: logsOf(answer).filter((log) => Number(log['blockNumber']) >= height) }
        : undefined;

  let world: World;
  let node: MisbehavingNode;
  beforeEach(async () => {
    world = await startWorld();
    node = await misbehavingNode(world.chain);
  });
  afterEach(async () => {
    await world.close();
    await node.close();
  });

  test.each([
    ['few', 1],
    ['many', 600],
  ])(
    'holds the cursor while we are far behind with %s wallets, until another endpoint has the history',
    async (_, wallets) => {
      const first = world.watch({ rpcUrls: [node.url] });
      const wallet = await watchedWallet(world);
      await world.pool.query(
        `insert into watch (network, address, merchant_id, watched_from, watched_until, state)
       select 'local', decode(lpad(to_hex(n), 40, '0'), 'hex'), 'mer_x', now(), now() + interval '1 day', 'watching'
       from generate_series(1, $1) n`,
        [wallets],
      );
      await untilScanned(world);
      await first.close();
      await world.chain.transfer(wallet, 5n);
      await world.chain.mine(20);
      for (let block = 0; block < 30; block += 1) await world.chain.transfer(newWallet(), 1n);
      await world.chain.mine(100);
      const before = await cursorOf(world);
      node.spoil(prunedBelow(await headOf(world)));
      const behind = world.watch({ rpcUrls: [node.url] });
      const requests = node.requests();
      await eventually(() => expect(node.requests()).toBeGreaterThan(requests + 6));
      expect(await cursorOf(world)).toBe(before);
      await behind.close();
      world.watch({ rpcUrls: [node.url, world.chain.rpcUrl] });
      await untilReceived(world, wallet, ['seen', 'confirmed']);
    },
  );

  test('holds the back-fill, and never makes a wallet complete, until another endpoint has the history', async () => {
    const lone = world.watch({ rpcUrls: [node.url] });
    const createdAt = new Date().toISOString();
    const wallet = newWallet();
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(20);
    for (let block = 0; block < 30; block += 1) await world.chain.transfer(newWallet(), 1n);
    await untilScanned(world);
    node.spoil(prunedBelow((await headOf(world)) - 3));
    const asked = node.calls().length;
    await world.publishPaymentCreated({ recipient: wallet, created_at: createdAt });
    await eventually(() =>
      expect(
        node
          .calls()
          .slice(asked)
          .some(({ method }) => method === 'eth_getLogs'),
      ).toBe(true),
    );
    // New blocks are scanned in the meantime.
    await world.chain.mine(2);
    await untilScanned(world);
    const { rows } = await world.pool.query<{ state: string }>('select state from watch');
    expect(rows).toEqual([{ state: 'backfilling' }]);
    expect(world.received).toEqual([]);
    await lone.close();
    world.watch({ rpcUrls: [node.url, world.chain.rpcUrl] });
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await untilWatched(world, wallet);
  });
});

describe('a node that is stuck on a dead branch', () => {
  test('retracts nothing while another endpoint still has our tip', async () => {
    const world = await startWorld();
    const stuck = await misbehavingNode(world.chain);
    world.watch({ rpcUrls: [stuck.url, world.chain.rpcUrl], confirmations: 2 });
    const wallet = await watchedWallet(world);
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(3);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await untilScanned(world);
    const forkedAt = Number(await world.chain.rpc<string>('eth_blockNumber')) - 3;
    // From there on it has other blocks, as many as all other nodes.
    stuck.spoil((call, answer) => {
      const block = answer.result as { number: string; hash: string; parentHash: string } | null;
      if (!/^eth_getBlockBy/.test(call.method) || !block || Number(block.number) < forkedAt) return undefined;
      const other = (hash: string) => `0xdead${hash.slice(6)}`;
      const parentHash = Number(block.number) > forkedAt ? other(block.parentHash) : block.parentHash;
      return { result: { ...block, hash: other(block.hash), parentHash } };
    });
    const asked = stuck.calls().length;
    await eventually(() => expect(stuck.calls().length).toBeGreaterThan(asked + 3));
    await world.chain.mine(1);
    await eventually(() => expect(stuck.calls().length).toBeGreaterThan(asked + 6));
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    const { rows } = await world.pool.query('select 1 from incident');
    expect(rows).toEqual([]);
    await world.close();
    await stuck.close();
  });
});
