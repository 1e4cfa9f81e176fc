import { test } from '@jest/globals';
import { misbehavingNode } from './misbehaving-node.ts';
import { newWallet, startWorld, untilHeard, untilWatched } from './world.ts';

test('a watcher whose first endpoint is stuck hears of a transfer through the second', async () => {
  const world = await startWorld();
  const stuck = await misbehavingNode(world.chain);
  try {
    await world.chain.rpc('anvil_mine', ['0x3c', '0x1']);
    world.watch({ rpcUrls: [stuck.url, world.chain.rpcUrl] });
    const wallet = newWallet();
    await world.announce({ recipient: wallet });
    await untilWatched(world, wallet);
    await world.chain.transfer(wallet, 5n);
    await untilHeard(world, wallet, ['seen']);
    stuck.lag(50);
    await world.chain.rpc('anvil_mine', ['0x2', '0x1']);
    await untilHeard(world, wallet, ['seen', 'confirmed'], { timeoutMs: 20_000 });
  } finally {
    await world.close();
    await stuck.close();
  }
}, 60_000);
