import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { askWindows, watchedWallet } from './support.ts';
import type { RunningWatcher } from './watcher.ts';
import { startWorld, untilReceived, untilScanned, untilWatched, type World } from './world.ts';

/** Like a rollup's clock after a restart. */
const BEHIND_SECONDS = 48;

let world: World;
let watcher: RunningWatcher;

beforeAll(async () => {
  world = await startWorld({ clockBehindSeconds: BEHIND_SECONDS });
  watcher = world.watch({ confirmations: 4 });
});
afterAll(() => world.close());

/** The fields of a message about the first reading. */
const readingOf = ({ first_seen_at: seenAt, live }: TransferObserved) => ({ first_seen_at: seenAt, live });
const isoOf = (time: number) => new Date(time).toISOString();

describe('on a chain whose clock is 48 s behind', () => {
  test('a transfer that is read immediately is live, and read close to the time when it was made', async () => {
    const wallet = await watchedWallet(world);
    await untilScanned(world);
    const before = Date.now();
    await world.chain.transfer(wallet, 5n);
    const [seen] = await untilReceived(world, wallet, ['seen']);
    const readAt = Date.parse(seen!.first_seen_at!);
    expect(seen!.live).toBe(true);
    expect(readAt).toBeGreaterThanOrEqual(before);
    expect(readAt).toBeLessThanOrEqual(Date.now());
    expect(Date.parse(seen!.block_timestamp)).toBeLessThan(before - (BEHIND_SECONDS - 10) * 1000);
    await world.chain.mine(3);
    const messages = await untilReceived(world, wallet, ['seen', 'confirmed']);
    expect(messages.map(readingOf)).toEqual([readingOf(seen!), readingOf(seen!)]);
  });

  test('payments finds it only in the window of the payment that it was made for, not in a later one', async () => {
    const wallet = newWallet();
    const { created_at: from, expires_at: to } = await world.publishPaymentCreated({ recipient: wallet });
    await untilWatched(world, wallet);
    await untilScanned(world);
    await world.chain.transfer(wallet, 5n);
    const [seen] = await untilReceived(world, wallet, ['seen']);
    expect(Date.parse(seen!.block_timestamp)).toBeLessThan(Date.parse(from));
    const { transfers } = await askWindows(watcher, { recipient: wallet, from, to });
    expect(transfers).toMatchObject([{ transaction_id: seen!.transaction_id, ...readingOf(seen!) }]);
    const later = isoOf(Date.parse(seen!.first_seen_at!) + 1_000);
    expect((await askWindows(watcher, { recipient: wallet, from: later, to })).transfers).toEqual([]);
  });

  test('one that was mined before its wallet was watched is found, and is not live', async () => {
    const wallet = newWallet();
    await world.chain.transfer(wallet, 7n);
    await untilScanned(world);
    const { created_at: createdAt } = await world.publishPaymentCreated({ recipient: wallet });
    const [seen] = await untilReceived(world, wallet, ['seen']);
    expect(seen!.live).toBe(false);
    expect(Date.parse(seen!.first_seen_at!)).toBeGreaterThanOrEqual(Date.parse(createdAt));
  });

  test('a reorg keeps the earliest reading, whatever block follows', async () => {
    const wallet = await watchedWallet(world);
    await untilScanned(world);
    const hash = await world.chain.transfer(wallet, 9n);
    const [first] = await untilReceived(world, wallet, ['seen']);
    expect(first!.live).toBe(true);
    const raw = await world.chain.rpc<string>('eth_getRawTransactionByHash', [hash]);
    await world.chain.rpc('anvil_reorg', [1, [[raw, 0]]]);
    const moved = await untilReceived(world, wallet, ['seen', 'retracted', 'seen']);
    expect(moved[2]!.block_hash).not.toBe(first!.block_hash);
    expect(moved.map(readingOf)).toEqual(Array(3).fill(readingOf(first!)));
    await world.chain.mine(4);
    const all = await untilReceived(world, wallet, ['seen', 'retracted', 'seen', 'confirmed']);
    expect(readingOf(all[3]!)).toEqual(readingOf(first!));
  });

  test("transfers of a new leader's first look are not live, and later ones are", async () => {
    const wallet = await watchedWallet(world);
    await untilScanned(world);
    await watcher.close();
    await world.chain.transfer(wallet, 11n);
    watcher = world.watch({ confirmations: 4 });
    expect(await untilReceived(world, wallet, ['seen'])).toMatchObject([{ live: false }]);
    const other = await watchedWallet(world);
    await untilScanned(world);
    await world.chain.transfer(other, 12n);
    expect(await untilReceived(world, other, ['seen'])).toMatchObject([{ live: true }]);
  });
});
