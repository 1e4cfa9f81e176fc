import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { heightsOf, hiding, incidentsOf } from './second-reading.ts';
import type { RunningWatcher } from './watcher.ts';
import { startWorld, untilReceived, untilScanned, untilWatched, type World } from './world.ts';

/** Makes a rescan take several ranges. */
const entry = { max_block_range: 50 };

type Rescan = {
  rescan_id: string;
  from_block: number | null;
  to_block: number | null;
  next_block: number | null;
  found: number;
  state: string;
  error: string | null;
  actor: string;
  reason: string;
  finished_at: string | null;
};

let world: World;
let node: MisbehavingNode;
let watcher: RunningWatcher;

beforeAll(async () => {
  world = await startWorld();
  node = await misbehavingNode(world.chain);
  // With a single endpoint the audit comes much later, so everything that is found here was found by the rescan.
  watcher = world.watch({ rpcUrls: [node.url], entry });
});
afterAll(async () => {
  await world.close();
  await node.close();
});
afterEach(() => node.spoil(null));

const author = { actor: 'olga', reason: 'the node was broken' };
const post = (range: object, network = 'local') =>
  watcher.call('POST', `/internal/v1/chains/${network}/rescans`, { ...author, ...range });
const newest = async (): Promise<Rescan> => {
  const { body } = await watcher.call('GET', '/internal/v1/chains/local/rescans');
  return (body as { rescans: Rescan[] }).rescans[0]!;
};

/** Requests a rescan and waits until it has ended. */
async function rescan(range: object): Promise<Rescan> {
  const { status, body } = await post(range);
  expect(status).toBe(201);
  expect(body).toMatchObject({ ...author, state: 'waiting', found: 0, error: null });
  return eventually(async () => {
    const row = await newest();
    expect(row.rescan_id).toBe((body as Rescan).rescan_id);
    expect(['done', 'failed']).toContain(row.state);
    return row;
  });
}

/** A transfer that the node hides while its block becomes final. */
async function hiddenTransfer(): Promise<{ wallet: string; block: number; timestamp: number }> {
  const wallet = newWallet();
  await world.publishPaymentCreated({ recipient: wallet });
  await untilWatched(world, wallet);
  node.spoil(hiding(() => true));
  const hash = await world.chain.transfer(wallet, 5n);
  const receipt = await world.chain.rpc<{ blockNumber: string }>('eth_getTransactionReceipt', [hash]);
  const block = await world.chain.rpc<{ timestamp: string }>('eth_getBlockByNumber', [receipt.blockNumber, false]);
  await world.chain.mine(3);
  await untilScanned(world);
  node.spoil(null);
  await untilReceived(world, wallet, []);
  return { wallet, block: Number(receipt.blockNumber), timestamp: Number(block.timestamp) };
}

describe('a rescan', () => {
  test('finds what the scan has missed, and a second time finds nothing', async () => {
    const { wallet, block } = await hiddenTransfer();
    const { final } = await heightsOf(world);
    const first = await rescan({ from_block: block });
    expect(first).toMatchObject({ state: 'done', found: 1, from_block: block, to_block: final, next_block: final + 1 });
    expect(Date.parse(first.finished_at!)).toBeGreaterThan(0);
    const [seen] = await untilReceived(world, wallet, ['seen', 'confirmed']);
    expect(seen).toMatchObject({ live: false });
    expect(await incidentsOf(watcher)).toMatchObject([{ kind: 'transfer_missed', detail: { block_number: block } }]);

    expect(await rescan({ from_block: block, to_block: block })).toMatchObject({ state: 'done', found: 0 });
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    expect(await incidentsOf(watcher)).toHaveLength(1);
  });

  test('begins at the first block since a time, in chain time', async () => {
    const { wallet, block, timestamp } = await hiddenTransfer();
    const since = new Date(timestamp * 1000).toISOString();
    expect(await rescan({ since })).toMatchObject({ state: 'done', found: 1, from_block: block });
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await world.chain.rpc('evm_increaseTime', [60]);
    await world.chain.mine(3);
    await untilScanned(world);
    const { tip } = await heightsOf(world);
    const later = new Date((timestamp + 30) * 1000).toISOString();
    expect(await rescan({ since: later })).toMatchObject({ state: 'done', found: 0, from_block: tip - 2 });
  });

  test('ends at the last final block at the latest', async () => {
    const { tip, final } = await heightsOf(world);
    const row = await rescan({ from_block: 1, to_block: tip + 1_000 });
    expect(row).toMatchObject({ state: 'done', from_block: 1, to_block: final, next_block: final + 1 });
  });

  test('of blocks that are not final yet fails with that reason', async () => {
    const { tip, final } = await heightsOf(world);
    expect(await rescan({ from_block: tip + 1 })).toMatchObject({
      state: 'failed',
      error: `there is nothing to read: it begins at block ${tip + 1}, and the last final block is ${final}`,
    });
  });

  test('of blocks that no node keeps fails and names them', async () => {
    await world.chain.mine(20);
    await untilScanned(world);
    node.spoil((call) =>
      call.method === 'eth_getLogs' && Number((call.params[0] as { fromBlock?: string }).fromBlock) < 10
        ? { result: undefined, error: { code: 4444, message: 'pruned history unavailable' } }
        : undefined,
    );
    const row = await rescan({ from_block: 2 });
    expect(row).toMatchObject({ state: 'failed', next_block: 2, found: 0 });
    expect(row.error).toMatch(/^no endpoint could read block 2 and those after it; .*pruned history unavailable/);
    // The blocks that they do keep can still be read.
    expect(await rescan({ from_block: 10 })).toMatchObject({ state: 'done' });
  });

  test('continues at the same block under the next leader', async () => {
    await world.chain.mine(150);
    await untilScanned(world);
    // The first range can be read, the next one cannot yet.
    node.spoil((call) =>
      call.method === 'eth_getBlockByNumber' && Number(call.params[0]) > entry.max_block_range
        ? { result: undefined, error: { code: -32000, message: 'too busy' } }
        : undefined,
    );
    await post({ from_block: 1 });
    const half = await eventually(async () => {
      const row = await newest();
      expect(row).toMatchObject({ state: 'running', error: expect.stringContaining('too busy') });
      return row;
    });
    expect(half.next_block).toBeGreaterThan(1);
    const other = world.watch({ rpcUrls: [world.chain.rpcUrl], entry });
    await watcher.close();
    watcher = other;
    await eventually(async () => expect(await newest()).toMatchObject({ state: 'done', error: null }));
    expect(await newest()).toMatchObject({ rescan_id: half.rescan_id, from_block: 1, to_block: half.to_block });
    await watcher.close();
    watcher = world.watch({ rpcUrls: [node.url], entry });
  });

  test('finds nothing for a wallet whose watch had ended before the block', async () => {
    const { wallet, block } = await hiddenTransfer();
    await world.pool.query(
      `update watch set state = 'ended', ended_through = watched_from - interval '1 minute' where address = $1`,
      [Buffer.from(wallet.slice(2), 'hex')],
    );
    expect(await rescan({ from_block: block })).toMatchObject({ state: 'done', found: 0 });
    await untilReceived(world, wallet, []);
  });
});

describe('a request for a rescan', () => {
  test.each([
    [{}, 'from_block'],
    [{ from_block: 1, since: '2026-01-31T12:00:00.000Z' }, 'from_block'],
    [{ from_block: -1 }, 'from_block'],
    [{ from_block: '5' }, 'from_block'],
    [{ from_block: 1.5 }, 'from_block'],
    [{ since: 'yesterday' }, 'since'],
    [{ from_block: 5, to_block: 4 }, 'to_block'],
    [{ from_block: 5, until: 4 }, 'until'],
  ])('with %j is refused and named', async (range, field) => {
    expect(await post(range)).toMatchObject({ status: 422, body: { detail: [{ field }] } });
  });

  test('needs an actor and a reason', async () => {
    const anonymous = { from_block: 1, actor: 'olga' };
    const answer = await watcher.call('POST', '/internal/v1/chains/local/rescans', anonymous);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ field: 'reason' }] } });
  });

  test('of a network that is not enabled is refused', async () => {
    expect(await post({ from_block: 1 }, 'nowhere')).toMatchObject({
      status: 404,
      body: { detail: 'Network not found' },
    });
    expect(await watcher.call('GET', '/internal/v1/chains/nowhere/rescans')).toMatchObject({ status: 404 });
  });
});
