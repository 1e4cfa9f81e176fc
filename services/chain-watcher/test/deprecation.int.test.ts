import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DEPRECATE_TOPIC } from '@quittance/chain-reader/chain/transfers.ts';
import { parseAddress } from '@quittance/contracts/address.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { emitAt } from './emitted-events.ts';
import { incidentsOf } from './second-reading.ts';
import { untilCaughtUp, watchedWallet } from './support.ts';
import { startWorld, untilReceived, untilScanned, type World } from './world.ts';

let world: World;
let nodes: MisbehavingNode[];

beforeEach(async () => {
  world = await startWorld();
  nodes = [await misbehavingNode(world.chain), await misbehavingNode(world.chain)];
});
afterEach(async () => {
  await world.close();
  await Promise.all(nodes.map((node) => node.close()));
});

const watch = () => world.watch({ rpcUrls: nodes.map(({ url }) => url) });

/** Makes this contract log that another one replaces it. */
async function deprecate(contract: string): Promise<{ transactionId: string; successor: string }> {
  const successor = newWallet();
  const data = `0x${'0'.repeat(24)}${parseAddress(successor)!.hex.slice(2)}`;
  const hash = await emitAt(world.chain, contract, [{ topics: [DEPRECATE_TOPIC], data }]);
  return { transactionId: hash.slice(2), successor };
}

test('a deprecation in a new block raises one incident, and needs no extra request', async () => {
  const watcher = watch();
  const wallet = await watchedWallet(world);
  await untilScanned(world);
  await deprecate(newWallet());
  const { transactionId, successor } = await deprecate(world.chain.token);
  await world.chain.transfer(wallet, 5n);
  await world.chain.mine(1);
  await untilReceived(world, wallet, ['seen', 'confirmed']);
  const incident = {
    kind: 'token_deprecated',
    network: 'local',
    detail: { contract: world.chain.token, successor, transaction_id: transactionId, block_number: expect.any(Number) },
  };
  expect(await incidentsOf(watcher)).toMatchObject([incident]);
  const [counted] = (await watcher.metrics.registry.getSingleMetric('chain_incidents_total')!.get()).values.filter(
    ({ labels }) => labels['kind'] === 'token_deprecated',
  );
  expect(counted?.value).toBe(1);
  // Neither for the deprecation itself, nor for all events of a block because the token's events did not explain its header.
  const searches = nodes.flatMap((node) => node.calls()).filter(({ method }) => method === 'eth_getLogs');
  const filterOf = ({ params: [filter] }: (typeof searches)[number]) =>
    filter as { address?: string; topics?: unknown[] };
  expect(searches.map(filterOf).filter(({ address }) => address === undefined)).toEqual([]);
  expect(searches.map(filterOf).filter(({ topics = [] }) => topics[0] === DEPRECATE_TOPIC)).toEqual([]);
});

test('a deprecation in blocks that were read only for a few wallets is found by their second reading', async () => {
  const before = watch();
  await watchedWallet(world);
  await untilScanned(world);
  await before.close();
  await world.chain.mine(100);
  const { transactionId } = await deprecate(world.chain.token);
  await world.chain.mine(200);
  const after = watch();
  await untilCaughtUp(world);
  await eventually(async () => {
    expect(await incidentsOf(after)).toMatchObject([
      { kind: 'token_deprecated', detail: { transaction_id: transactionId } },
    ]);
  });
});
