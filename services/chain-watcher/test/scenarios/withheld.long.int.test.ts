import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { addressFromHex, parseAddress } from '@quittance/contracts/address.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import {
  misbehavingNode,
  type Answer,
  type Call,
  type MisbehavingNode,
} from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { RunningWatcher } from '../watcher.ts';
import { startWorld, untilReceived, untilScanned, type World } from '../world.ts';
import { askWindows, cursorOf, headOf, stateOfWatch, untilAsked, untilCaughtUp } from '../support.ts';

const noBloom = `0x${'0'.repeat(512)}`;

/** The faulty node, and one that can be made to answer correctly when nothing else does. */
let world: World;
let liar: MisbehavingNode;
let honest: MisbehavingNode;
let watchers: RunningWatcher[] = [];
let receivedBefore = 0;

/** One world for the tests of a group, each with its own watchers. */
function shareWorld(): void {
  beforeAll(async () => {
    world = await startWorld();
    [liar, honest] = await Promise.all([misbehavingNode(world.chain), misbehavingNode(world.chain)]);
  });
  beforeEach(() => {
    receivedBefore = world.received.length;
  });
  afterEach(async () => {
    for (const watcher of watchers) await watcher.close();
    watchers = [];
    liar.spoil(null);
    honest.replaceAll(null);
  });
  afterAll(async () => {
    await world.close();
    await Promise.all([liar.close(), honest.close()]);
  });
}

type Family = 'evm' | 'tron';
const spellingOf = (family: Family, hex: string) => addressFromHex(family, hex);

function watchAs(family: Family): RunningWatcher {
  const entry: Partial<Network> = { family, usdt_contract: spellingOf(family, world.chain.token) };
  if (family === 'tron') entry.default_evm = false;
  const watcher = world.watch({ rpcUrls: [liar.url, honest.url], entry });
  watchers.push(watcher);
  return watcher;
}

async function watchedWallet(family: Family): Promise<string> {
  const wallet = spellingOf(family, newWallet());
  await world.publishPaymentCreated({ recipient: wallet });
  await eventually(async () => expect(await stateOfWatch(world, wallet)).toBe('watching'));
  return wallet;
}

const pay = (wallet: string, units: bigint) => world.chain.transfer(parseAddress(wallet)!.hex, units);

/** The other node is unreachable, the first one is asked repeatedly, and the scan stays below this block. */
async function expectHeldBelow(block: number): Promise<void> {
  await untilAsked(liar, 8);
  expect(await cursorOf(world)).toBeLessThan(block);
  expect(world.received).toHaveLength(receivedBefore);
}

describe.each<Family>(['evm', 'tron'])(
  'on a chain of family %s, a node that shows no events and an empty filter',
  (family) => {
    shareWorld();
    const hideEvents = (call: Call, answer: Answer) => {
      if (call.method === 'eth_getLogs' && answer.result) return { result: [] };
      if (!call.method.startsWith('eth_getBlockBy') || !answer.result) return undefined;
      return { result: { ...answer.result, logsBloom: noBloom } };
    };

    test.each([
      ['at the head', 2],
      ['far behind it', 300],
    ])('holds up the scan %s, and another node lets it continue', async (_, blocksAfter) => {
      const first = watchAs(family);
      const wallet = await watchedWallet(family);
      await untilScanned(world);
      await first.close();
      await pay(wallet, 5n);
      const block = await headOf(world);
      await world.chain.mine(blocksAfter);
      liar.spoil(hideEvents);
      honest.replaceAll('drop');
      watchAs(family);
      await expectHeldBelow(block);
      honest.replaceAll(null);
      await untilReceived(world, wallet, ['seen', 'confirmed']);
      await untilCaughtUp(world);
    });

    test('keeps a late watch from being complete', async () => {
      const createdAt = new Date().toISOString();
      const watcher = watchAs(family);
      await watchedWallet(family);
      const late = spellingOf(family, newWallet());
      await pay(late, 5n);
      await world.chain.mine(300);
      await untilCaughtUp(world);
      liar.spoil(hideEvents);
      honest.replaceAll('drop');
      await world.publishPaymentCreated({ recipient: late, created_at: createdAt });
      await eventually(async () => expect(await stateOfWatch(world, late)).not.toBeUndefined());
      await untilAsked(liar, 8);
      expect(['new', 'backfilling']).toContain(await stateOfWatch(world, late));
      const to = new Date(Date.now() + 60_000).toISOString();
      expect((await askWindows(watcher, { recipient: late, from: createdAt, to })).scanned_through).toBeNull();
      honest.replaceAll(null);
      await untilReceived(world, late, ['seen', 'confirmed']);
      await eventually(async () => expect(await stateOfWatch(world, late)).toBe('watching'));
    });
  },
);

describe('a node without old blocks', () => {
  shareWorld();

  type Spoil = (call: Call, answer: Answer) => Partial<Answer> | undefined;
  type WithHeight = { blockNumber?: string; number?: string } | null;

  /** The height that a request is about; for a query, the lowest one. Infinity if it is about none. */
  function heightOf({ params }: Call, { result }: Answer): number {
    const { fromBlock } = (params[0] ?? {}) as { fromBlock?: string };
    if (fromBlock !== undefined) return Number(fromBlock);
    const shown = [result].flat() as WithHeight[];
    return Math.min(...shown.map((part) => Number(part?.blockNumber ?? part?.number ?? Infinity)));
  }

  const eventMethods = ['eth_getLogs', 'eth_getTransactionReceipt', 'eth_getBlockReceipts'];
  const isOf = (methods: string[], { method }: Call) => methods.some((name) => method.startsWith(name));

  test.each<[string, (horizon: number) => Spoil]>([
    [
      'that shows nothing in them, without an error',
      (horizon) => (call, answer) => {
        if (call.method === 'eth_getLogs' && Array.isArray(answer.result))
          return { result: answer.result.filter((log: { blockNumber: string }) => Number(log.blockNumber) > horizon) };
        return isOf(eventMethods, call) && heightOf(call, answer) <= horizon ? { result: null } : undefined;
      },
    ],
    [
      'that answers with an error',
      (horizon) => (call, answer) =>
        isOf(eventMethods, call) && heightOf(call, answer) <= horizon
          ? { result: undefined, error: { code: 4444, message: 'pruned history unavailable' } }
          : undefined,
    ],
    [
      'that knows none of them',
      (horizon) => (call, answer) => {
        if (!isOf([...eventMethods, 'eth_getBlockBy'], call) || heightOf(call, answer) > horizon) return undefined;
        return { result: call.method === 'eth_getLogs' ? [] : null };
      },
    ],
  ])('%s holds up scan and back-fill, and another node lets both continue', async (_, prunedBelow) => {
    const first = watchAs('evm');
    const wallet = await watchedWallet('evm');
    await untilScanned(world);
    await first.close();
    const createdAt = new Date().toISOString();
    await pay(wallet, 5n);
    const block = await headOf(world);
    const late = newWallet();
    await pay(late, 6n);
    await world.chain.mine(400);

    const pruned = prunedBelow((await headOf(world)) - 20);
    liar.spoil(pruned);
    honest.replaceAll('drop');
    const watcher = watchAs('evm');
    await expectHeldBelow(block);
    honest.replaceAll(null);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await untilCaughtUp(world);

    honest.replaceAll('drop');
    await world.publishPaymentCreated({ recipient: late, created_at: createdAt });
    await eventually(async () => expect(await stateOfWatch(world, late)).not.toBeUndefined());
    await untilAsked(liar, 8);
    expect(['new', 'backfilling']).toContain(await stateOfWatch(world, late));
    const to = new Date(Date.now() + 60_000).toISOString();
    expect((await askWindows(watcher, { recipient: late, from: createdAt, to })).scanned_through).toBeNull();
    // New blocks are scanned in the meantime.
    await world.chain.mine(1);
    await untilCaughtUp(world);
    honest.replaceAll(null);
    await untilReceived(world, late, ['seen', 'confirmed']);
  });
});

describe('a node that invents a transfer', () => {
  shareWorld();

  /** A real event of this transaction, but with this wallet as the recipient. */
  async function inventedFor(wallet: string, hash: string): Promise<Record<string, unknown>> {
    const { logs } = await world.chain.rpc<{ logs: { topics: string[] }[] }>('eth_getTransactionReceipt', [hash]);
    const [topic, from] = logs[0]!.topics;
    return {
      ...logs[0],
      topics: [topic, from, `0x${'0'.repeat(24)}${wallet.slice(2).toLowerCase()}`],
      logIndex: '0x1',
    };
  }

  test.each([
    ['in the name of a transaction that has none', (log: object) => log],
    ['with a transaction that does not exist', (log: object) => ({ ...log, transactionHash: `0x${'ab'.repeat(32)}` })],
  ])('%s is not believed, and the scan continues with another node', async (_, dressed) => {
    watchAs('evm');
    const wallet = await watchedWallet('evm');
    await untilScanned(world);
    honest.replaceAll('drop');
    // The block must not be read before the false answer is ready.
    liar.replaceAll('drop');
    const invented = dressed(await inventedFor(wallet, await world.chain.transfer(newWallet(), 7n)));
    const block = await headOf(world);
    liar.spoil((call, answer) =>
      call.method === 'eth_getLogs' && (answer.result as unknown[]).length > 0
        ? { result: [...(answer.result as unknown[]), invented] }
        : undefined,
    );
    liar.replaceAll(null);
    await world.chain.mine(2);
    await expectHeldBelow(block);
    honest.replaceAll(null);
    await untilCaughtUp(world);
    expect(world.received).toHaveLength(receivedBefore);
    const { rows } = await world.pool.query('select from transfer');
    expect(rows).toEqual([]);
  });
});
