import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ChainStatus } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { samplesOf } from '@quittance/testkit/alert-rules.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { cursorOf, headOf, watchedWallet } from './support.ts';
import type { RunningWatcher } from './watcher.ts';
import { startWorld, untilScanned, type World } from './world.ts';

let world: World;
let node: MisbehavingNode;
let watcher: RunningWatcher;

beforeEach(async () => {
  world = await startWorld();
  node = await misbehavingNode(world.chain);
  watcher = world.watch({ rpcUrls: [node.url] });
  await watchedWallet(world);
  await untilScanned(world);
});
afterEach(async () => {
  await world.close();
  await node.close();
});

async function status(): Promise<ChainStatus> {
  const { body } = await watcher.call('GET', '/internal/v1/chains');
  return (body as [ChainStatus])[0];
}

async function gauge(name: string): Promise<number | undefined> {
  return (await samplesOf(watcher.metrics)).find((sample) => sample.name === name)?.value;
}

test("a scan that makes no progress shows its nodes' head, its own, and the reason", async () => {
  // The node answers about headers, but not about the contents of blocks.
  node.spoil(({ method }) =>
    ['eth_getLogs', 'eth_getBlockReceipts', 'eth_getTransactionReceipt'].includes(method)
      ? { result: undefined, error: { code: -32000, message: 'the disk is full' } }
      : undefined,
  );
  const standing = await cursorOf(world);
  await world.chain.transfer(newWallet(), 5n);
  await world.chain.mine(5);
  const head = await headOf(world);
  await eventually(async () => {
    expect(await status()).toMatchObject({
      cursor: standing,
      endpoint_head: head,
      lag_blocks: head - standing,
      scan_error: expect.stringContaining('the disk is full'),
    });
    expect(await gauge('chain_endpoint_head_block')).toBe(head);
    expect(await gauge('chain_cursor_block')).toBe(standing);
  });

  node.spoil(null);
  await eventually(async () => {
    expect(await status()).toMatchObject({ cursor: head, endpoint_head: head, scan_error: null });
    expect(await gauge('chain_cursor_block')).toBe(head);
  });
});
