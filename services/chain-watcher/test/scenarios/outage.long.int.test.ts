import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { networksOf, newWallet } from '@quittance/testkit/chain/samples.ts';
import { replicasOf, type Replicas } from '../replica.ts';
import { INTERNAL_TOKEN } from '../watcher.ts';
import { startWorld, untilReceived, untilScanned, type World } from '../world.ts';
import {
  askWindows,
  cursorOf,
  expectNothingTwice,
  headOf,
  untilAsked,
  untilCaughtUp,
  watchedWallet,
} from '../support.ts';

// Real parts are slow on a busy machine. No test here passes or fails by time.
let world: World;
let nodes: MisbehavingNode[] = [];
let replicas: Replicas | null = null;
afterEach(async () => {
  await replicas?.close();
  await world.close();
  await Promise.all(nodes.map((node) => node.close()));
  [replicas, nodes] = [null, []];
});

test('while every endpoint of a network is down, the other networks continue, and afterwards nothing is missing', async () => {
  world = await startWorld();
  nodes = await Promise.all([misbehavingNode(world.chain), misbehavingNode(world.chain)]);
  const [local] = networksOf({ chain: world.chain, rpcUrls: nodes.map(({ url }) => url) });
  const other = { ...local, id: 'other', default_evm: false, rpc_urls: [world.chain.rpcUrl] };
  replicas = await replicasOf(world, [local, other]);
  const replica = await replicas.start();
  const wallet = await watchedWallet(world);
  await untilScanned(world);

  for (const node of nodes) node.replaceAll('drop');
  const hashes: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    hashes.push(await world.chain.transfer(wallet, BigInt(5 + round)));
    await world.chain.mine(40);
  }
  const elsewhere = newWallet();
  await world.publishPaymentCreated({ recipient: elsewhere, network: 'other' });
  await world.chain.transfer(elsewhere, 9n);
  await world.chain.mine(2);
  await untilReceived(world, elsewhere, ['seen', 'confirmed']);
  // Both are tried repeatedly, and the metrics show that they are down. The service itself is healthy.
  const asked = nodes.map((node) => node.requests());
  await eventually(() =>
    nodes.forEach((node, index) => expect(node.requests()).toBeGreaterThanOrEqual(asked[index]! + 4)),
  );
  const headers = { 'x-internal-token': INTERNAL_TOKEN };
  const chains = (await (await fetch(`${replica.url}/internal/v1/chains`, { headers })).json()) as {
    network: string;
  }[];
  expect(chains.find(({ network }) => network === 'local')).toMatchObject({
    endpoints: nodes.map(() => ({ state: expect.not.stringMatching('closed'), last_error: expect.any(String) })),
  });
  expect((await fetch(`${replica.url}/readyz`)).status).toBe(200);
  expect(world.received.some(({ to }) => to === wallet)).toBe(false);

  for (const node of nodes) node.replaceAll(null);
  await eventually(() => {
    const confirmed = world.received.filter(({ to, phase }) => to === wallet && phase === 'confirmed');
    expect(confirmed.map(({ transaction_id: id }) => `0x${id}`).sort()).toEqual(hashes.toSorted());
  });
  await untilCaughtUp(world);
  expectNothingTwice(world);
}, 400_000);

const DAY_SECONDS = 86_400;
const BLOCK_SECONDS = 10;

test('after three days down, every transfer is found, in order, and no window counts as covered too early', async () => {
  world = await startWorld({ keepsStates: false });
  nodes = [await misbehavingNode(world.chain)];
  const [node] = nodes;
  const options = { rpcUrls: [node!.url], watchGraceSeconds: 7 * DAY_SECONDS };
  const before = world.watch(options);
  const createdAt = new Date().toISOString();
  // One waits for money that comes immediately, the others for money that comes too late for their payments.
  const expiresAt = new Date(Date.parse(createdAt) + 1_800_000).toISOString();
  const payment = { created_at: createdAt, expires_at: expiresAt };
  const wallets = await Promise.all(Array.from({ length: 5 }, () => watchedWallet(world, payment)));
  const unpaid = await watchedWallet(world, payment);
  await untilScanned(world);
  const cursor = await cursorOf(world);
  await before.close();

  const blocks = (3 * DAY_SECONDS) / BLOCK_SECONDS;
  const stretch = blocks / 24;
  const sent: string[] = [];
  for (let mined = 0; mined < blocks; mined += stretch) {
    const wallet = wallets[sent.length % wallets.length]!;
    sent.push(await world.chain.transfer(wallet, BigInt(1 + sent.length)));
    await world.chain.rpc('anvil_mine', [`0x${stretch.toString(16)}`, `0x${BLOCK_SECONDS.toString(16)}`]);
  }
  sent.push(await world.chain.transfer(wallets[0]!, 99n));
  expect(await headOf(world)).toBeGreaterThanOrEqual(cursor + blocks);

  // The scan does not get beyond its first requests.
  node!.spoil(({ method }) =>
    method === 'eth_getLogs' ? { result: undefined, error: { code: 1, message: 'later' } } : undefined,
  );
  const after = world.watch(options);
  await untilAsked(node!, 4);
  const window = (recipient: string) => ({ recipient, from: createdAt, to: expiresAt });
  const known = (await askWindows(after, window(unpaid))).scanned_through;
  expect(Date.parse(known ?? createdAt)).toBeLessThan(Date.parse(expiresAt));
  node!.spoil(null);
  await untilCaughtUp(world);
  const answer = await askWindows(after, window(wallets[0]!), window(unpaid));
  expect(Date.parse(answer.scanned_through!)).toBeGreaterThan(Date.parse(expiresAt));
  expect(answer.transfers).toMatchObject([{ to: wallets[0], amount_units: '1', phase: 'confirmed' }]);

  await world.chain.mine(2);
  await eventually(() => {
    // A transfer's two messages may overtake each other.
    for (const wanted of ['seen', 'confirmed'])
      expect(world.received.filter(({ phase }) => phase === wanted)).toHaveLength(sent.length);
  });
  expect(world.received).toHaveLength(2 * sent.length);
  expectNothingTwice(world);
  const { rows } = await world.pool.query<{ transaction_id: string }>(
    'select transaction_id from transfer order by first_seen_at, block_number',
  );
  expect(rows.map(({ transaction_id: id }) => `0x${id}`)).toEqual(sent);
}, 400_000);
