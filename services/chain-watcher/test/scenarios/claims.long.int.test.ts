import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import {
  misbehavingNode,
  type Answer,
  type Call,
  type MisbehavingNode,
} from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { onAnotherChain } from '../second-reading.ts';
import { startWorld, untilReceived, untilScanned, untilWatched, type World } from '../world.ts';
import { askWindows, headOf, stateOfWatch, untilCaughtUp, watchedWallet } from '../support.ts';

let world: World;
let first: MisbehavingNode;
let second: MisbehavingNode;

beforeEach(async () => {
  world = await startWorld();
  [first, second] = await Promise.all([misbehavingNode(world.chain), misbehavingNode(world.chain)]);
});
afterEach(async () => {
  await world.close();
  await Promise.all([first.close(), second.close()]);
});

type ShownBlock = { number: string; timestamp: string };
/** Changes every block in the answers to these questions. */
const onBlocks =
  (isAsked: (call: Call) => boolean, change: (block: ShownBlock) => object) =>
  (call: Call, answer: Answer): Partial<Answer> | undefined =>
    call.method.startsWith('eth_getBlockBy') && answer.result && isAsked(call)
      ? { result: { ...answer.result, ...change(answer.result as ShownBlock) } }
      : undefined;
const hexOf = (number: number) => `0x${number.toString(16)}`;

describe('a head and a final block a million blocks ahead, which do not exist,', () => {
  const isTag = ({ params }: Call) => params[0] === 'latest' || params[0] === 'finalized';
  const farAhead = onBlocks(isTag, ({ number }) => ({
    hash: `0x${'ab'.repeat(32)}`,
    number: hexOf(Number(number) + 1_000_000),
  }));

  test('named once by the only endpoint delay nothing for longer than that', async () => {
    world.watch({ rpcUrls: [first.url] });
    const wallet = await watchedWallet(world);
    await untilScanned(world);
    let times = 0;
    first.spoil((call, answer) => {
      if (call.params[0] === 'finalized') times += 1;
      return farAhead(call, answer);
    });
    await eventually(() => expect(times).toBeGreaterThan(0));
    first.spoil(null);
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(4);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });

  test('make the scan ask the next endpoint while the first one names them', async () => {
    world.watch({ rpcUrls: [first.url, second.url] });
    const wallet = await watchedWallet(world);
    await untilScanned(world);
    first.spoil(farAhead);
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(4);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });
});

test.each([
  ['that lies more than an hour ahead', (seconds: number) => seconds + 7_200],
  ['in milliseconds', (seconds: number) => seconds * 1000],
  ['that no database holds', () => 2 ** 52],
])('a block time %s makes the scan ask the next endpoint, and is never published', async (_, distorted) => {
  const watcher = world.watch({ rpcUrls: [first.url, second.url] });
  const wallet = await watchedWallet(world);
  await untilScanned(world);
  first.spoil(
    onBlocks(
      () => true,
      ({ timestamp }) => ({ timestamp: hexOf(distorted(Number(timestamp))) }),
    ),
  );
  await world.chain.transfer(wallet, 5n);
  await world.chain.mine(4);
  await untilReceived(world, wallet, ['seen', 'confirmed']);
  const to = new Date(Date.now() + 3_600_000).toISOString();
  const answer = await askWindows(watcher, { recipient: wallet, from: new Date().toISOString(), to });
  expect(Date.parse(answer.scanned_through ?? '')).toBeLessThan(Date.parse(to));
});

test('a fork below the final block that only one of two endpoints shows halts nothing', async () => {
  world.watch({ rpcUrls: [first.url, second.url] });
  const wallet = await watchedWallet(world);
  await world.chain.mine(100);
  await untilScanned(world);
  first.spoil(onAnotherChain);
  await world.chain.transfer(wallet, 5n);
  await world.chain.mine(4);
  await untilReceived(world, wallet, ['seen', 'confirmed']);
});

describe('nodes that do not keep very old blocks', () => {
  const timeOfHead = async () => {
    const { timestamp } = await world.chain.rpc<ShownBlock>('eth_getBlockByNumber', ['latest', false]);
    return new Date(Number(timestamp) * 1000).toISOString();
  };

  /** Blocks of three time spans: very old ones, a payment's, and those up to the head. The nodes keep all but the first. */
  async function startPruned(): Promise<{ late: string; createdAt: string; veryOld: string }> {
    await world.chain.mine(500);
    const veryOld = await timeOfHead();
    await world.chain.mine(500);
    await world.chain.rpc('evm_increaseTime', [600]);
    await world.chain.mine(1);
    const kept = (await headOf(world)) - 150;
    const createdAt = await timeOfHead();
    const late = newWallet();
    await world.chain.transfer(late, 5n);
    await world.chain.mine(100);
    first.spoil((call, answer) => {
      const isOld =
        call.method === 'eth_getBlockByNumber' && Number((answer.result as ShownBlock | null)?.number) < kept;
      return isOld ? { result: null } : undefined;
    });
    world.watch({ rpcUrls: [first.url] });
    await untilCaughtUp(world);
    return { late, createdAt, veryOld };
  }

  test('are enough for a late watch that does not need very old blocks', async () => {
    const { late, createdAt } = await startPruned();
    await world.publishPaymentCreated({ recipient: late, created_at: createdAt });
    await untilReceived(world, late, ['seen', 'confirmed']);
  });

  test('delay a watch that needs those blocks, and no others', async () => {
    const { veryOld } = await startPruned();
    const hopeless = newWallet();
    await world.publishPaymentCreated({ recipient: hopeless, created_at: veryOld });
    await eventually(async () => expect(await stateOfWatch(world, hopeless)).toBe('new'));
    await world.chain.rpc('evm_increaseTime', [60]);
    await world.chain.mine(1);
    await untilScanned(world);
    const other = newWallet();
    await world.publishPaymentCreated({ recipient: other, created_at: await timeOfHead() });
    await untilWatched(world, other);
    expect(await stateOfWatch(world, hopeless)).toBe('new');
  });
});
