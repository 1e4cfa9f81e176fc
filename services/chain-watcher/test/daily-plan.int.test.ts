import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { watchedWallet } from './support.ts';
import type { RunningWatcher } from './watcher.ts';
import { startWorld, untilReceived, type World } from './world.ts';

let world: World;
let nodes: MisbehavingNode[];
beforeAll(async () => {
  world = await startWorld();
  nodes = [await misbehavingNode(world.chain), await misbehavingNode(world.chain)];
});
afterAll(async () => {
  await world.close();
  await Promise.all(nodes.map((node) => node.close()));
});

const used = ({ url }: MisbehavingNode) => ({ url, requests_per_day: 1 });

async function runsOf({ metrics }: RunningWatcher): Promise<number> {
  const runs = await metrics.registry.getSingleMetric('loop_run_duration_seconds')?.get();
  const ofScan = runs?.values.filter(({ labels }) => labels['loop'] === 'scan local' && labels['outcome'] === 'ok');
  const isCount = (value: object) => 'metricName' in value && String(value.metricName).endsWith('_count');
  return ofScan?.find(isCount)?.value ?? 0;
}
const untilRuns = (watcher: RunningWatcher, count: number) =>
  eventually(async () => expect(await runsOf(watcher)).toBeGreaterThan(count));

test("a plan that is used up holds back polling, and the leader's other work continues", async () => {
  const [node] = nodes;
  const watcher = world.watch({ entry: { rpc_urls: [used(node!)] } });
  await untilRuns(watcher, 5);
  const requests = node!.requests();
  expect(requests).toBeGreaterThan(0);
  await world.chain.mine(3);
  await untilRuns(watcher, (await runsOf(watcher)) + 10);
  expect(node!.requests()).toBe(requests);
  const { body } = await watcher.call('GET', '/internal/v1/chains');
  expect(body).toMatchObject([{ endpoints: [{ budget: { requests: { limit: 1 }, units: null, slowed: true } }] }]);
  await watcher.close();
});

test('payments are seen in time through another endpoint', async () => {
  const [first, second] = nodes;
  const watcher = world.watch({ entry: { rpc_urls: [used(first!), second!.url] } });
  const wallet = await watchedWallet(world);
  await world.chain.transfer(wallet, 5n);
  await world.chain.mine(3);
  await untilReceived(world, wallet, ['seen', 'confirmed']);
  await watcher.close();
});
