import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ChainStatus, Jump } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { networksOf, newWallet } from '@quittance/testkit/chain/samples.ts';
import { FINAL_BEHIND, farChain, type FarChain } from './far-chain.ts';
import { replicasOf } from './replica.ts';
import { askWindows, cursorOf, expectNothingTwice, stateOfWatch } from './support.ts';
import type { RunningWatcher } from './watcher.ts';
import { startWorld, untilReceived, untilWatched, type World } from './world.ts';
const WEEK_SECONDS = 7 * 86_400;
const author = { actor: 'olga', reason: 'weeks without a node' };
const path = '/internal/v1/chains/local/jumps';

let world: World;
let far: FarChain;

beforeEach(async () => {
  world = await startWorld();
});
afterEach(async () => {
  await world.close();
  await far.close();
});

/** A chain like BNB's whose head has this height and this age. */
async function startFar(head: number, ageSeconds: number, blockSeconds = 0.45): Promise<void> {
  const genesis = Math.floor(Date.now() / 1000) - ageSeconds - Math.ceil(head * blockSeconds);
  far = await farChain({ chain: world.chain, head, genesis, blockSeconds });
}

const policy = () => ({ rpcUrls: [far.url], confirmations: 3, finality: 'finalized' as const });
const watch = () => world.watch(policy());

/** A payment on its own wallet, created at the time of this block. */
async function payment(height: number): ReturnType<World['publishPaymentCreated']> {
  const createdAt = far.timeOf(height) * 1000;
  return world.publishPaymentCreated({
    recipient: newWallet(),
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(createdAt + 1_800_000).toISOString(),
  });
}

const untilScannedTo = (height: number) => eventually(async () => expect(await cursorOf(world)).toBe(height));

async function jumps(watcher: RunningWatcher): Promise<Jump[]> {
  const { body } = await watcher.call('GET', path);
  return (body as { jumps: Jump[] }).jumps;
}

async function status(watcher: RunningWatcher): Promise<ChainStatus> {
  const { body } = await watcher.call('GET', '/internal/v1/chains');
  return (body as [ChainStatus])[0];
}

const windowOf = ({
  recipient,
  created_at: from,
  expires_at: to,
}: {
  recipient: string;
  created_at: string;
  expires_at: string;
}) => ({
  ...{ recipient, from, to },
});

/** A watcher that was stopped after it had watched for this payment. Its tip is far.head(). */
async function leaveAfter(closing: boolean): ReturnType<World['publishPaymentCreated']> {
  const before = watch();
  await untilScannedTo(far.head());
  const left = await payment(far.head());
  await untilWatched(world, left.recipient);
  if (closing) {
    await world.publishPaymentClosed(left, new Date(Date.parse(left.created_at) + 60_000));
    await eventually(async () => {
      const { rows } = await world.pool.query('select 1 from unfinished_payment where closed_at is null');
      expect(rows).toEqual([]);
    });
  }
  await before.close();
  return left;
}

describe('after four weeks of BNB', () => {
  const BLOCKS = Math.floor((4 * WEEK_SECONDS) / 0.45);

  test('a network on which no payment waits continues automatically at the last final block, and sees new payments', async () => {
    await startFar(10_000_000, 4 * WEEK_SECONDS);
    const left = await leaveAfter(true);
    const tip = far.head();
    far.grow(BLOCKS);
    const asked = far.calls().length;
    const watcher = watch();
    const fresh = await payment(far.head());
    await eventually(async () => expect(await cursorOf(world)).toBe(far.head()));
    far.pay(far.head() + 1, fresh.recipient, 5n);
    far.grow(5);
    await untilReceived(world, fresh.recipient, ['seen', 'confirmed']);
    expect(far.calls().length - asked).toBeLessThan(2_000);

    const [jump] = await jumps(watcher);
    expect(jump).toMatchObject({
      ...{ state: 'done', actor: 'chain-watcher', to_block: null, left_from: tip + 1, wallets: 1 },
      left_through: tip + BLOCKS - FINAL_BEHIND,
    });
    const { body } = await watcher.call('GET', '/internal/v1/operator-actions?network=local');
    expect(body).toMatchObject({ actions: [{ action: 'jump', actor: 'chain-watcher', detail: { state: 'done' } }] });
    await untilWatched(world, fresh.recipient);
    // Its late money may be in between.
    expect((await askWindows(watcher, windowOf(left))).scanned_through).toBeNull();
    expect((await askWindows(watcher, windowOf(fresh))).scanned_through).not.toBeNull();
    expectNothingTwice(world);
  });
});

describe('a gap that an unfinished payment needs', () => {
  const GAP = 5_000;

  test('is not skipped automatically; when it is pruned, the error says what an operator can do', async () => {
    await startFar(1_000_000, GAP * 3, 3);
    const left = await leaveAfter(false);
    const tip = far.head();
    far.grow(GAP);
    far.pay(tip + 100, left.recipient, 7n);
    far.prune(tip + GAP - 500);
    const watcher = watch();
    const shown = await eventually(async () => {
      const found = await status(watcher);
      expect(found).toMatchObject({ cursor: tip, endpoint_head: far.head(), scan_error: expect.any(String) });
      return found;
    });
    expect(shown.scan_error).toContain(`chain jump local --reason`);
    expect(await jumps(watcher)).toEqual([]);

    const fresh = await payment(far.head());
    expect(await watcher.call('POST', path, author)).toMatchObject({
      status: 201,
      body: { state: 'waiting', ...author },
    });
    await untilScannedTo(far.head());
    far.pay(far.head() + 1, fresh.recipient, 5n);
    far.grow(5);
    await untilReceived(world, fresh.recipient, ['seen', 'confirmed']);
    expect(await jumps(watcher)).toMatchObject([
      // No node shows our tip any more, so blocks that were not final are read again.
      { state: 'done', left_from: tip - 1, left_through: tip + GAP - FINAL_BEHIND, wallets: 1, ...author },
    ]);

    // These blocks are not read yet, so nothing is decided. With a node that keeps them, the money is found.
    expect(await stateOfWatch(world, left.recipient)).toBe('backfilling');
    expect((await askWindows(watcher, windowOf(left))).scanned_through).toBeNull();
    expect(world.received.filter(({ to }) => to === left.recipient)).toEqual([]);
    far.prune(0);
    await untilReceived(world, left.recipient, ['seen', 'confirmed']);
    await eventually(async () => {
      const answer = await askWindows(watcher, windowOf(left));
      expect(Date.parse(answer.scanned_through!)).toBeGreaterThan(Date.parse(left.expires_at));
      expect(answer.transfers).toMatchObject([{ amount_units: '7', phase: 'confirmed' }]);
    });
    expectNothingTwice(world);
  });

  test('a transfer in a block that no node shows any more is retracted, and found again in its present block', async () => {
    await startFar(1_000_000, GAP * 3, 3);
    const before = watch();
    await untilScannedTo(far.head());
    const left = await payment(far.head());
    await untilWatched(world, left.recipient);
    far.grow(1);
    far.pay(far.head(), left.recipient, 7n);
    await untilReceived(world, left.recipient, ['seen']);
    const tip = far.head();
    await before.close();

    far.forkAt(tip);
    far.grow(GAP);
    far.pay(tip + 3, left.recipient, 7n);
    far.prune(tip + GAP - 500);
    const watcher = watch();
    await eventually(async () => expect((await status(watcher)).scan_error).not.toBeNull());
    await watcher.call('POST', path, author);
    await untilReceived(world, left.recipient, ['seen', 'retracted']);
    far.prune(0);
    await eventually(() => {
      const heard = world.received.filter(({ to }) => to === left.recipient);
      expect(heard.filter(({ phase }) => phase === 'confirmed')).toMatchObject([{ block_number: tip + 3 }]);
    });
    expectNothingTwice(world);
  });

  test('a power cut in the middle leaves the scan at one block or the other, with all consequences', async () => {
    await startFar(1_000_000, GAP * 3, 3);
    const left = await leaveAfter(false);
    const tip = far.head();
    far.grow(GAP);
    far.pay(tip + 100, left.recipient, 7n);
    far.prune(tip + GAP - 500);
    const replicas = await replicasOf(world, networksOf({ chain: world.chain, ...policy() }));
    try {
      await world.pool.query(`insert into jump (network, actor, reason) values ('local', 'olga', 'weeks')`);
      const cut = await replicas.start({ FAULT_POINT: 'jump-written' });
      expect(await cut.exited).toBeNull();
      expect(await cursorOf(world)).toBe(tip);
      expect(await stateOfWatch(world, left.recipient)).toBe('watching');
      await replicas.start();
      await untilScannedTo(far.head());
      expect(await stateOfWatch(world, left.recipient)).toBe('backfilling');
      far.prune(0);
      await untilReceived(world, left.recipient, ['seen', 'confirmed']);
      expectNothingTwice(world);
    } finally {
      await replicas.close();
    }
  });
});

test('the scan does not continue at a block that another endpoint does not show', async () => {
  await startFar(1_000_000, 9_000, 3);
  await leaveAfter(false);
  const tip = far.head();
  const other = await farChain({ chain: world.chain, head: tip, genesis: far.timeOf(0), blockSeconds: 3 });
  try {
    for (const node of [far, other]) node.grow(3_000);
    // They agree about every scanned block. Neither keeps the next blocks, so the scan makes no progress.
    other.forkAt(tip + 1_000);
    for (const node of [far, other]) node.prune(tip + 2_500);
    const watcher = world.watch({ ...policy(), rpcUrls: [far.url, other.url] });
    await eventually(async () => expect((await status(watcher)).scan_error).not.toBeNull());
    await watcher.call('POST', path, author);
    await eventually(async () => {
      expect(await jumps(watcher)).toMatchObject([
        { state: 'waiting', error: expect.stringMatching(/does not show block/) },
      ]);
    });
    expect(await cursorOf(world)).toBe(tip);
  } finally {
    await other.close();
  }
});

test('a network begins at a block that has its confirmations, not just at one that a node calls final', async () => {
  await startFar(1_000, 600, 3);
  const watcher = world.watch({ ...policy(), confirmations: 15 });
  await untilScannedTo(far.head());
  expect(await status(watcher)).toMatchObject({ finalized: far.head() - FINAL_BEHIND, final: far.head() - 14 });
});

describe('a requested jump', () => {
  test('ends at a final block above the last one scanned', async () => {
    await startFar(1_000_000, 600, 3);
    const watcher = watch();
    await untilScannedTo(far.head());
    const ask = (body: object) => watcher.call('POST', path, { ...author, ...body });
    expect(await ask({ to_block: far.head() })).toMatchObject({
      status: 422,
      body: { detail: [{ field: 'to_block' }] },
    });
    expect(await watcher.call('POST', '/internal/v1/chains/other/jumps', author)).toMatchObject({ status: 404 });

    expect(await ask({ to_block: far.head() + 1 })).toMatchObject({ status: 201 });
    await eventually(async () => {
      expect(await jumps(watcher)).toMatchObject([
        { state: 'failed', error: expect.stringMatching(/is not final yet/) },
      ]);
    });
    expect(await ask({})).toMatchObject({ status: 201 });
    await eventually(async () => {
      const [newest] = await jumps(watcher);
      expect(newest).toMatchObject({ state: 'failed', error: expect.stringMatching(/nothing to skip/) });
    });
  });
});
