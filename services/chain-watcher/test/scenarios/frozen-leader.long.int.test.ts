import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { networksOf } from '@quittance/testkit/chain/samples.ts';
import { replicasOf, type Replicas } from '../replica.ts';
import { startWorld, untilReceived, untilScanned, type World } from '../world.ts';
import { cursorOf, expectNothingTwice, headOf, watchedWallet } from '../support.ts';

let world: World;
let node: MisbehavingNode;
let replicas: Replicas;

beforeAll(async () => {
  world = await startWorld();
  node = await misbehavingNode(world.chain);
  replicas = await replicasOf(world, networksOf({ chain: world.chain, rpcUrls: [node.url] }));
});
afterAll(async () => {
  await replicas.close();
  await world.close();
  await node.close();
});

const epoch = async () => (await world.pool.query<{ epoch: bigint }>('select epoch from cursor')).rows[0]!.epoch;

test('a leader that is frozen for longer than its lease while it has unstored blocks neither stores nor publishes them when it wakes', async () => {
  // Its request deadline must not pass before it wakes, or it would have no blocks to store.
  const settings = { RPC_TIMEOUT_MS: '60000' };
  const frozen = await replicas.start(settings);
  await eventually(async () => expect(await frozen.leads('local')).toBe(true));
  const other = await replicas.start(settings);
  const [wallet, later] = [await watchedWallet(world), await watchedWallet(world)];
  await untilScanned(world);

  // It is frozen between a request and its answer, which waits in the connection.
  let isFrozen = false;
  node.spoil(({ method }) => {
    if (method === 'eth_getLogs' && !isFrozen) isFrozen = frozen.process.kill('SIGSTOP');
    return undefined;
  });
  await world.chain.transfer(wallet, 5n);
  await eventually(() => expect(isFrozen).toBe(true));
  await eventually(async () => expect(await other.leads('local')).toBe(true));
  const taken = await epoch();
  await world.chain.transfer(later, 6n);
  await world.chain.mine(2);
  await untilReceived(world, wallet, ['seen', 'confirmed']);
  await untilReceived(world, later, ['seen', 'confirmed']);
  await untilScanned(world);

  frozen.process.kill('SIGCONT');
  await eventually(async () => expect(await frozen.leads('local')).toBe(false));
  expect(await cursorOf(world)).toBe(await headOf(world));
  expect(await epoch()).toBe(taken);
  expect(await other.leads('local')).toBe(true);
  const { rows } = await world.pool.query('select from transfer');
  expect(rows).toHaveLength(2);

  // It is a normal replica again, and leads when needed.
  other.process.kill('SIGTERM');
  await other.exited;
  await eventually(async () => expect(await frozen.leads('local')).toBe(true));
  await world.chain.transfer(wallet, 7n);
  await world.chain.mine(2);
  await eventually(() => expect(world.received).toHaveLength(6));
  expectNothingTwice(world);
}, 300_000);

test('after a power cut in the middle of a reorg, dropped transfers are retracted once', async () => {
  const wallet = await watchedWallet(world);
  await world.chain.transfer(wallet, 5n);
  await untilReceived(world, wallet, ['seen']);
  await replicas.stopAll();
  await world.chain.reorg(1);
  await world.chain.mine(2);
  const cut = await replicas.start({ FAULT_POINT: 'reorg-written' });
  expect(await cut.exited).toBeNull();
  await replicas.start();
  await untilReceived(world, wallet, ['seen', 'retracted']);
  await untilScanned(world);
  expectNothingTwice(world);
}, 300_000);
