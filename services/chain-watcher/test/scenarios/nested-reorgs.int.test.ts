import { expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { misbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { startWorld, untilReceived, untilScanned } from '../world.ts';
import { expectNothingTwice, watchedWallet } from '../support.ts';

// Real parts on a busy machine take their time; nothing here passes or fails by it.
test('of two reorganisations, the second inside the first and both between two polls, only what stands in the end is published', async () => {
  const world = await startWorld();
  const node = await misbehavingNode(world.chain);
  try {
    world.watch({ rpcUrls: [node.url], confirmations: 6 });
    const [returning, last] = [await watchedWallet(world), await watchedWallet(world)];
    const between = await watchedWallet(world);
    const hash = await world.chain.transfer(returning, 5n);
    const raw = await world.chain.rpc<string>('eth_getRawTransactionByHash', [hash]);
    await world.chain.mine(2);
    const [seen] = await untilReceived(world, returning, ['seen']);
    await untilScanned(world);

    // Until further notice the head stands still for whoever looks.
    const head = await world.chain.rpc<object>('eth_getBlockByNumber', ['latest', false]);
    node.spoil(({ params }) => (params[0] === 'latest' ? { result: head } : undefined));
    await world.chain.reorg(3);
    await world.chain.transfer(between, 6n);
    await world.chain.mine(1);
    // The first branch's first block stays; what it held above that gives way to a third branch.
    await world.chain.rpc('anvil_reorg', [4, [[raw, 1]]]);
    await world.chain.transfer(last, 7n);
    await world.chain.mine(1);
    node.spoil(null);

    const [, , again] = await untilReceived(world, returning, ['seen', 'retracted', 'seen']);
    expect(again).toMatchObject({ transaction_id: hash.slice(2), version: 3, block_number: seen!.block_number + 2 });
    await untilReceived(world, last, ['seen']);
    await world.chain.mine(6);
    await untilReceived(world, last, ['seen', 'confirmed']);
    await untilReceived(world, returning, ['seen', 'retracted', 'seen', 'confirmed']);
    await untilScanned(world);
    expect(world.received.some(({ to }) => to === between)).toBe(false);
    expectNothingTwice(world);
    // And the wallet is served as before.
    await world.chain.transfer(between, 8n);
    await eventually(() => expect(world.received.some(({ to }) => to === between)).toBe(true));
  } finally {
    await world.close();
    await node.close();
  }
});
