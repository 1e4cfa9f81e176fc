import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { networksOf } from '@quittance/testkit/chain/samples.ts';
import { replicasOf, type Replicas } from '../replica.ts';
import { startWorld, untilReceived, untilScanned, type World } from '../world.ts';
import { cursorOf, expectNothingTwice, headOf, watchedWallet } from '../support.ts';

// Real parts on a busy machine take their time; nothing here passes or fails by it.
const patience = { timeoutMs: 90_000 };

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

test('a leader whose process is frozen for longer than its lease, with blocks in its hands, neither stores nor publishes anything of them when it wakes', async () => {
  // Its deadline for questions must not end before it wakes, or there would be nothing in its hands.
  const settings = { RPC_TIMEOUT_MS: '60000' };
  const frozen = await replicas.start(settings);
  await eventually(async () => expect(await frozen.leads('local')).toBe(true), patience);
  const other = await replicas.start(settings);
  const [wallet, later] = [await watchedWallet(world), await watchedWallet(world)];
  await untilScanned(world);

  // Frozen between its question about a block and the answer, which waits for it in the connection.
  let isFrozen = false;
  node.spoil(({ method }) => {
    if (method === 'eth_getLogs' && !isFrozen) isFrozen = frozen.process.kill('SIGSTOP');
    return undefined;
  });
  await world.chain.transfer(wallet, 5n);
  await eventually(() => expect(isFrozen).toBe(true), patience);
  await eventually(async () => expect(await other.leads('local')).toBe(true), patience);
  const taken = await epoch();
  await world.chain.transfer(later, 6n);
  await world.chain.mine(2);
  await untilReceived(world, wallet, ['seen', 'confirmed'], patience);
  await untilReceived(world, later, ['seen', 'confirmed'], patience);
  await untilScanned(world);

  frozen.process.kill('SIGCONT');
  await eventually(async () => expect(await frozen.leads('local')).toBe(false), patience);
  expect(await cursorOf(world)).toBe(await headOf(world));
  expect(await epoch()).toBe(taken);
  expect(await other.leads('local')).toBe(true);
  const { rows } = await world.pool.query('select from transfer');
  expect(rows).toHaveLength(2);

  // It is a replica like any other again, and leads when it has to.
  other.process.kill('SIGTERM');
  await other.exited;
  await eventually(async () => expect(await frozen.leads('local')).toBe(true), patience);
  await world.chain.transfer(wallet, 7n);
  await world.chain.mine(2);
  await eventually(() => expect(world.received).toHaveLength(6), patience);
  expectNothingTwice(world);
}, 300_000);

test('a power cut in the middle of a reorganisation retracts what was dropped, once', async () => {
  const wallet = await watchedWallet(world);
  await world.chain.transfer(wallet, 5n);
  await untilReceived(world, wallet, ['seen']);
  await replicas.stopAll();
  await world.chain.reorg(1);
  await world.chain.mine(2);
  const cut = await replicas.start({ FAULT_POINT: 'reorg-written' });
  expect(await cut.exited).toBeNull();
  await replicas.start();
  await untilReceived(world, wallet, ['seen', 'retracted'], patience);
  await untilScanned(world);
  expectNothingTwice(world);
}, 300_000);
