import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import {
  misbehavingNode,
  type Answer,
  type Call,
  type MisbehavingNode,
} from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { headOf, untilCaughtUp, watchedWallet } from './support.ts';
import type { RunningWatcher } from './watcher.ts';
import { startWorld, untilReceived, untilScanned, untilWatched, type World } from './world.ts';

type Receipt = { blockHash: string; logs: Record<string, unknown>[] };

/** In base units. A larger transfer needs two endpoints. */
const LIMIT = 5n;

describe("a transfer that is too large for one endpoint's answer", () => {
  let world: World;
  let second: MisbehavingNode;

  beforeAll(async () => {
    world = await startWorld();
    second = await misbehavingNode(world.chain);
    world.watch({ rpcUrls: [world.chain.rpcUrl, second.url], entry: { agreement_above_amount: '0.000005' } });
  });
  afterAll(async () => {
    await world.close();
    await second.close();
  });
  afterEach(() => {
    second.spoil(null);
    second.replaceAll(null);
  });

  /** A transfer that is deep enough, and how often the second endpoint was asked for its receipt since. */
  const deepTransfer = async (wallet: string, units: bigint) => {
    let questions = 0;
    const misbehave = (change: (receipt: Receipt) => unknown) =>
      second.spoil((call: Call, answer: Answer) => {
        if (call.method !== 'eth_getTransactionReceipt') return undefined;
        questions += 1;
        return { result: answer.result ? change(answer.result as Receipt) : null };
      });
    return {
      misbehave,
      questions: () => questions,
      pay: async () => {
        await world.chain.transfer(wallet, units);
        await world.chain.mine(4);
        await untilScanned(world);
      },
    };
  };
  const disagreements = async () =>
    (await world.pool.query<{ detail: object }>(`select detail from incident where kind = 'endpoints_disagree'`)).rows;

  test('is confirmed once a second one shows it, too', async () => {
    const wallet = await watchedWallet(world);
    const { pay } = await deepTransfer(wallet, LIMIT + 1n);
    await pay();
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });

  test('waits while the second one is down, unlike smaller ones', async () => {
    const [wallet, other] = [await watchedWallet(world), await watchedWallet(world)];
    second.replaceAll('drop');
    await world.chain.transfer(wallet, LIMIT + 1n);
    await world.chain.transfer(other, LIMIT);
    await world.chain.mine(4);
    await untilReceived(world, other, ['seen', 'confirmed']);
    await untilReceived(world, wallet, ['seen']);
    second.replaceAll(null);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });

  test('waits and raises one incident while the second one contradicts', async () => {
    const wallet = await watchedWallet(world);
    const { pay, misbehave, questions } = await deepTransfer(wallet, LIMIT + 1n);
    misbehave((receipt) => ({
      ...receipt,
      logs: receipt.logs.map((log) => ({ ...log, data: `0x${'1'.repeat(64)}` })),
    }));
    await pay();
    await eventually(async () => expect(await disagreements()).toHaveLength(1));
    await eventually(() => expect(questions()).toBeGreaterThan(2));
    await untilReceived(world, wallet, ['seen']);
    expect(await disagreements()).toHaveLength(1);
    second.spoil(null);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });

  test('waits and raises an incident while the second one has the height but not the transfer', async () => {
    const wallet = await watchedWallet(world);
    const { pay, misbehave } = await deepTransfer(wallet, LIMIT + 1n);
    const before = (await disagreements()).length;
    misbehave(() => null);
    await pay();
    await eventually(async () => expect(await disagreements()).toHaveLength(before + 1));
    await untilReceived(world, wallet, ['seen']);
    second.spoil(null);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });

  test('raises no incident when a second one is only a little late', async () => {
    const wallet = await watchedWallet(world);
    const { pay, misbehave, questions } = await deepTransfer(wallet, LIMIT + 1n);
    const before = (await disagreements()).length;
    misbehave(() => null);
    await pay();
    await eventually(() => expect(questions()).toBeGreaterThan(0));
    second.spoil(null);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    expect(await disagreements()).toHaveLength(before);
  });

  test('does not wait for other transfers, however many, that never get an agreement', async () => {
    const [wallet, other] = [await watchedWallet(world), await watchedWallet(world)];
    const hidden = new Set<string>();
    second.spoil((call) =>
      call.method === 'eth_getTransactionReceipt' && hidden.has(String(call.params[0])) ? { result: null } : undefined,
    );
    for (let count = 0; count < 25; count += 1) hidden.add(await world.chain.transfer(wallet, LIMIT + 1n));
    await world.chain.transfer(other, LIMIT + 1n);
    await world.chain.mine(4);
    await untilReceived(world, other, ['seen', 'confirmed']);
    expect(world.received.some(({ to, phase }) => to === wallet && phase === 'confirmed')).toBe(false);
  });
});

test("a transfer above the network's cap waits until the chain itself calls its block final", async () => {
  const world = await startWorld({ slotsInAnEpoch: 4 });
  world.watch({ entry: { finalized_above_amount: '0.000005' } });
  const [large, small] = [newWallet(), newWallet()];
  for (const recipient of [large, small]) {
    await world.publishPaymentCreated({ recipient });
    await untilWatched(world, recipient);
  }
  await world.chain.transfer(large, LIMIT + 1n);
  await world.chain.transfer(small, LIMIT);
  await world.chain.mine(2);
  await untilReceived(world, small, ['seen', 'confirmed']);
  await untilScanned(world);
  await untilReceived(world, large, ['seen']);
  await world.chain.mine(10);
  await untilReceived(world, large, ['seen', 'confirmed']);
  await world.close();
});

describe("a node's answer about the final block", () => {
  const DEPTH = 200;
  let world: World;
  let first: MisbehavingNode;
  let watcher: RunningWatcher;
  const entry = { finalized_above_amount: '0.000005' };

  beforeAll(async () => {
    world = await startWorld({ slotsInAnEpoch: DEPTH / 2 });
    first = await misbehavingNode(world.chain);
    await world.chain.mine(DEPTH + 10);
    watcher = world.watch({ rpcUrls: [first.url], entry });
    await untilScanned(world);
  });
  afterEach(() => first.spoil(null));
  afterAll(async () => {
    await world.close();
    await first.close();
  });

  const onFinal = (change: () => Partial<Answer>) => (call: Call) =>
    call.params[0] === 'finalized' ? change() : undefined;
  const failing = (code: number, message: string) => ({ result: undefined, error: { code, message } });
  const phasesOf = (wallet: string) => world.received.filter(({ to }) => to === wallet).map(({ phase }) => phase);

  test('finalizes nothing when it names no block, or an older one: 160 blocks may still be reorganised', async () => {
    const answers: [string, Partial<Answer>][] = [
      ['null', { result: null }],
      ['an unknown block', failing(-39001, 'Unknown block')],
      ['no such block', failing(-32000, 'finalized block not found')],
      ['words that nobody knows', failing(-32603, 'boom')],
      ['an older block', { result: await world.chain.rpc('eth_getBlockByNumber', ['0x1', false]) }],
    ];
    const wallet = await watchedWallet(world);
    await world.chain.transfer(wallet, LIMIT + 1n);
    // Deeper than any depth that replaces a final block.
    first.spoil(onFinal(() => ({ result: null })));
    await world.chain.mine(130);
    for (const [name, answer] of answers) {
      first.spoil(onFinal(() => answer));
      await world.chain.mine(5);
      await untilCaughtUp(world);
      await untilReceived(world, wallet, ['seen']);
      expect([name, ...phasesOf(wallet)]).toEqual([name, 'seen']);
    }
    await world.chain.reorg(160);
    await world.chain.mine(1);
    await untilReceived(world, wallet, ['seen', 'retracted']);
    await untilCaughtUp(world);
    expect((await world.pool.query('select 1 from incident')).rows).toEqual([]);
  });

  test.each([
    ['any transfer', { finality: 'finalized' as const }],
    ['a large transfer', { entry }],
  ])('confirms %s even if no new block comes', async (_, policy) => {
    await watcher.close();
    first.spoil(onFinal(() => ({ result: null })));
    watcher = world.watch({ rpcUrls: [first.url], ...policy });
    const wallet = await watchedWallet(world);
    await world.chain.transfer(wallet, LIMIT + 1n);
    await world.chain.mine(3);
    await untilCaughtUp(world);
    await untilReceived(world, wallet, ['seen']);
    const below = (await headOf(world)) - 1;
    const named = await world.chain.rpc('eth_getBlockByNumber', [`0x${below.toString(16)}`, false]);
    first.spoil(onFinal(() => ({ result: named })));
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });

  test.each([
    ['never names a block', null],
    ['names the same one for ever', '0x20'],
  ])('is taken from another endpoint when the first one %s', async (_, named) => {
    await watcher.close();
    const result = named && (await world.chain.rpc('eth_getBlockByNumber', [named, false]));
    first.spoil(onFinal(() => ({ result })));
    watcher = world.watch({ rpcUrls: [first.url, world.chain.rpcUrl], finality: 'finalized' });
    const wallet = await watchedWallet(world);
    await world.chain.transfer(wallet, LIMIT);
    await world.chain.mine(DEPTH - 1);
    await untilCaughtUp(world);
    await untilReceived(world, wallet, ['seen']);
    await eventually(async () => {
      await world.chain.mine(1);
      await untilCaughtUp(world);
      expect(phasesOf(wallet)).toContain('confirmed');
    });
  });

  test('that is wrong, as from one that has just started, confirms no large transfer while the other one contradicts it', async () => {
    await watcher.close();
    let named: unknown = null;
    first.spoil(onFinal(() => ({ result: named })));
    const wallet = newWallet();
    watcher = world.watch({ rpcUrls: [first.url, world.chain.rpcUrl], entry });
    await world.publishPaymentCreated({ recipient: wallet });
    await untilWatched(world, wallet);
    await world.chain.transfer(wallet, LIMIT + 1n);
    await world.chain.mine(100);
    const last = (await headOf(world)) - 64;
    named = await world.chain.rpc('eth_getBlockByNumber', [`0x${last.toString(16)}`, false]);
    await world.chain.mine(1);
    // The scan accepts the one answer as final. The second endpoint is asked before anything is confirmed.
    await eventually(async () => {
      const waiting = await watcher.metrics.registry.getSingleMetricAsString('chain_transfers_awaiting_cross_check');
      expect(waiting).toMatch(/network="local".*\} 1$/m);
    });
    await world.chain.mine(1);
    await untilCaughtUp(world);
    await untilReceived(world, wallet, ['seen']);
    await world.chain.mine(DEPTH);
    named = await world.chain.rpc('eth_getBlockByNumber', ['finalized', false]);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });
});
