import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { emitAt, transferTopicsOf, wordOf } from '../emitted-events.ts';
import type { RunningWatcher } from '../watcher.ts';
import { startWorld, untilReceived, untilScanned, untilWatched, type World } from '../world.ts';
import { askWindows, stateOfWatch, watchedWallet } from '../support.ts';

// Real parts are slow on a busy machine. No test here passes or fails by time.
const secondsAfter = (moment: string, seconds: number) => new Date(Date.parse(moment) + seconds * 1000).toISOString();

describe('transfers of one transaction', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    world.watch({ entry: { receipts: 'proven' } });
  });
  afterAll(() => world.close());

  test('to two wallets of one merchant and one of another are published separately, each to its merchant', async () => {
    const [shop, other] = [newId('mer'), newId('mer')];
    const first = await watchedWallet(world, { merchant_id: shop });
    const second = await watchedWallet(world, { merchant_id: shop });
    const third = await watchedWallet(world, { merchant_id: other });
    const hash = await world.chain.transferBatch([
      { to: first, units: 7n },
      { to: second, units: 7n },
      { to: third, units: 7n },
    ]);
    await world.chain.mine(1);
    for (const [position, [wallet, merchantId]] of [
      [first, shop] as const,
      [second, shop] as const,
      [third, other] as const,
    ].entries()) {
      const told = { transaction_id: hash.slice(2), transaction_event_index: position, merchant_id: merchantId };
      const received = await untilReceived(world, wallet, ['seen', 'confirmed']);
      expect(received).toMatchObject([told, told]);
    }
  });
});

describe('an event that only looks like a transfer of the token', () => {
  let world: World;
  let wallet: string;
  beforeAll(async () => {
    world = await startWorld();
    world.watch({ entry: { receipts: 'proven' } });
    wallet = await watchedWallet(world);
  });
  afterAll(() => world.close());

  /** The messages received except these, in the order in which they were published. */
  const receivedBeside = (before: ReadonlySet<TransferObserved>) =>
    world.received
      .filter((message) => !before.has(message))
      .sort((a, b) => a.version - b.version)
      .map((message) => [message.to, message.phase, message.amount_units, message.transaction_event_index]);

  /** A real transfer afterwards shows that the blocks before it were read. */
  async function expectOnlyTheNext(): Promise<void> {
    const before = new Set(world.received);
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(1);
    await untilScanned(world);
    await eventually(() => {
      expect(receivedBeside(before)).toEqual([
        [wallet, 'seen', '5', 0],
        [wallet, 'confirmed', '5', 0],
      ]);
    });
  }

  test('a transfer with a zero amount, as used for address poisoning, is not published', async () => {
    await world.chain.transfer(wallet, 0n);
    await expectOnlyTheNext();
  });

  test('the same event of another contract is not published', async () => {
    const { payer } = world.chain;
    await emitAt(world.chain, newWallet(), [{ topics: transferTopicsOf(payer, wallet), data: wordOf(5n) }]);
    await expectOnlyTheNext();
  });

  test.each<[string, (topics: string[]) => { topics: string[]; data: string }]>([
    ['with four topics, as of an NFT', (topics) => ({ topics: [...topics, wordOf(5n)], data: '0x' })],
    ['with four topics and an amount as well', (topics) => ({ topics: [...topics, wordOf(1n)], data: wordOf(5n) })],
    ['with two topics', (topics) => ({ topics: topics.slice(0, 2), data: wordOf(5n) })],
    ['with short data', (topics) => ({ topics, data: '0x05' })],
    ['without data', (topics) => ({ topics, data: '0x' })],
  ])("an event of the token's own contract %s is not published", async (_, eventOf) => {
    const event = eventOf(transferTopicsOf(world.chain.payer, wallet));
    await emitAt(world.chain, world.chain.token, [event]);
    await expectOnlyTheNext();
  });

  test('in the same transaction as a real transfer changes only its position', async () => {
    const topics = transferTopicsOf(world.chain.payer, wallet);
    const before = new Set(world.received);
    await emitAt(world.chain, world.chain.token, [
      { topics, data: wordOf(0n) },
      { topics: [...topics, wordOf(1n)], data: '0x' },
      { topics, data: wordOf(9n) },
    ]);
    await world.chain.mine(1);
    await untilScanned(world);
    await eventually(() => {
      expect(receivedBeside(before)).toEqual([
        [wallet, 'seen', '9', 2],
        [wallet, 'confirmed', '9', 2],
      ]);
    });
  });
});

describe('a token of 18 decimals', () => {
  test('is published and returned exactly, to the last base unit', async () => {
    const world = await startWorld({ decimals: 18 });
    try {
      const watcher = world.watch({ entry: { receipts: 'proven' } });
      const wallet = newWallet();
      const { created_at: createdAt, expires_at: to } = await world.publishPaymentCreated({
        recipient: wallet,
        amount: '1.000001',
      });
      await untilWatched(world, wallet);
      const exact = 1_000_001_000_000_000_000n;
      for (const units of [exact - 1n, exact, exact + 1n]) await world.chain.transfer(wallet, units);
      await world.chain.mine(1);
      await eventually(() => expect(world.received).toHaveLength(6));
      expect(world.received.every(({ decimals }) => decimals === 18)).toBe(true);
      const window = { recipient: wallet, from: secondsAfter(createdAt, -15), to };
      const amounts = async (amount?: string) =>
        (await askWindows(watcher, { ...window, amount })).transfers.map(({ amount_units: units }) => units);
      expect((await amounts()).sort()).toEqual([exact - 1n, exact, exact + 1n].map(String));
      expect(await amounts('1.000001')).toEqual([String(exact)]);
      expect(await amounts('1')).toEqual([]);
    } finally {
      await world.close();
    }
  });
});

describe('a payment whose message comes after its transfer', () => {
  let world: World;
  let watcher: RunningWatcher;
  beforeAll(async () => {
    world = await startWorld();
    watcher = world.watch({ entry: { receipts: 'proven' } });
  });
  afterAll(() => world.close());

  /** @returns the time of the block that now holds a transfer to this wallet. */
  async function transferTo(wallet: string): Promise<string> {
    await world.chain.transfer(wallet, 5n);
    const { timestamp } = await world.chain.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false]);
    return new Date(Number(timestamp) * 1000).toISOString();
  }

  test('and was created up to 150 s after it gets it, but no older transfer', async () => {
    const [inTime, tooLate] = [newWallet(), newWallet()];
    await transferTo(tooLate);
    await world.chain.rpc('evm_increaseTime', [1]);
    const blockTime = await transferTo(inTime);
    await world.chain.rpc('evm_increaseTime', [200]);
    await world.chain.mine(5);
    await untilScanned(world);
    const createdAt = secondsAfter(blockTime, 150);
    for (const recipient of [inTime, tooLate]) await world.publishPaymentCreated({ recipient, created_at: createdAt });
    await untilWatched(world, tooLate);
    const [seen] = await untilReceived(world, inTime, ['seen', 'confirmed']);
    expect(world.received.some(({ to }) => to === tooLate)).toBe(false);
    // Payments gets the same answer to its question.
    const window = { recipient: inTime, from: blockTime, to: secondsAfter(createdAt, 30) };
    expect((await askWindows(watcher, window)).transfers).toMatchObject([{ transaction_id: seen!.transaction_id }]);
  });

  test('because its message took 30 s gets it, and the wallet never counts as covered before', async () => {
    const wallet = newWallet();
    await world.chain.rpc('evm_increaseTime', [1]);
    const blockTime = await transferTo(wallet);
    const window = { recipient: wallet, from: blockTime, to: secondsAfter(blockTime, 20) };
    for (let second = 0; second < 30; second += 1) {
      await world.chain.rpc('evm_increaseTime', [1]);
      await world.chain.mine(1);
    }
    await untilScanned(world);
    expect(await askWindows(watcher, window)).toEqual({ scanned_through: null, transfers: [] });
    await world.publishPaymentCreated({ recipient: wallet, created_at: blockTime });
    const [answer] = await Promise.all([
      eventually(async () => {
        const claimed = await askWindows(watcher, window);
        // A question in the meantime is answered with nothing, or with everything.
        if (claimed.scanned_through !== null) return claimed;
        throw new Error(`nothing is claimed yet, the wallet is ${await stateOfWatch(world, wallet)}`);
      }),
      untilReceived(world, wallet, ['seen', 'confirmed']),
    ]);
    expect(answer.transfers).toMatchObject([{ to: wallet, amount_units: '5' }]);
    expect(Date.parse(answer.scanned_through!)).toBeGreaterThan(Date.parse(window.to));
  });
});
