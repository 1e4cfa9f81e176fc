import { expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { misbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { startWorld, untilReceived, untilWatched } from './world.ts';

test('a watcher whose first endpoint is stuck reads a transfer from the second', async () => {
  const world = await startWorld();
  const stuck = await misbehavingNode(world.chain);
  try {
    await world.chain.rpc('anvil_mine', ['0x3c', '0x1']);
    world.watch({ rpcUrls: [stuck.url, world.chain.rpcUrl] });
    const wallet = newWallet();
    await world.publishPaymentCreated({ recipient: wallet });
    await untilWatched(world, wallet);
    await world.chain.transfer(wallet, 5n);
    await untilReceived(world, wallet, ['seen']);
    stuck.lag(50);
    await world.chain.rpc('anvil_mine', ['0x2', '0x1']);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  } finally {
    await world.close();
    await stuck.close();
  }
});

test('a watcher that polls every ten minutes reads an announced block immediately', async () => {
  const world = await startWorld();
  try {
    const wsUrl = world.chain.rpcUrl.replace('http:', 'ws:');
    const entry = { rpc_urls: [{ url: world.chain.rpcUrl, ws_url: wsUrl }], poll_interval_ms: 600_000 };
    const watcher = world.watch({ entry });
    await eventually(async () => {
      const { text } = await watcher.metrics.render();
      expect(text).toMatch(/^chain_new_heads_connected\{.*\} 1$/m);
      expect(text).toMatch(/^chain_leader\{.*\} 1$/m);
    });
    const wallet = newWallet();
    await world.publishPaymentCreated({ recipient: wallet });
    await eventually(async () => expect((await world.pool.query('select from watch')).rows.length).toBe(1));
    await world.chain.transfer(wallet, 5n);
    await untilReceived(world, wallet, ['seen']);
    await world.chain.mine(1);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  } finally {
    await world.close();
  }
});
