import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testChain, type TestChain } from '@quittance/testkit/chain.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createEndpoints, type Endpoints } from '../src/rpc/endpoints.ts';
import type { DailyPlan } from '../src/rpc/network.ts';
import { readHead } from '../src/rpc/reads.ts';

let chain: TestChain;
let nodes: MisbehavingNode[] = [];
let endpoints: Endpoints;

beforeAll(async () => {
  chain = await testChain();
});
afterAll(() => chain.close());
afterEach(async () => {
  endpoints.close();
  await Promise.all(nodes.map((node) => node.close()));
});

const metrics = createMetrics({ service: 'test', processMetrics: false });
const OFTEN_MS = 50;
const NEVER_MS = 3_600_000;

/** Nodes of one chain. The first one has this plan. */
async function start(count: number, { plan = null as DailyPlan | null, probeIntervalMs = NEVER_MS } = {}) {
  nodes = await Promise.all(Array.from({ length: count }, () => misbehavingNode(chain)));
  const node = { headers: {}, wsUrl: null, requestsPerSecond: null };
  endpoints = createEndpoints({
    network: {
      ...{ id: 'local', chain_id: chain.chainId },
      isProven: false,
      endpoints: nodes.map(({ url }, at) => ({ ...node, url, dailyPlan: at === 0 ? plan : null })),
    },
    ...{ timeoutMs: 20_000, logger: testLogger, metrics, probeIntervalMs },
  });
  return nodes;
}

/** Reads something. @returns the endpoint that answered. */
const who = () => endpoints.ask(async (rpc) => ((await readHead(rpc)).number >= 0 ? rpc.endpoint : -1));

describe('a plan with a daily limit', () => {
  const used = (): DailyPlan => ({ requestsPerDay: 1, unitsPerDay: null, unitPrices: null, beginsAtMinute: 0 });
  const budgetOf = (position: number) => endpoints.states()[position]?.budget;

  test('that is ahead of its daily pace sends reads to another endpoint', async () => {
    await start(2, { plan: used() });
    expect([await who(), await who(), await who()]).toEqual([0, 1, 1]);
    expect(budgetOf(0)).toMatchObject({ requests: { limit: 1 }, units: null, slowed: true });
    expect(budgetOf(1)).toBeNull();
    const { text } = await metrics.render();
    expect(text).toMatch(/^chain_endpoint_budget_used_ratio\{.*endpoint="0".*\} [1-9]/m);
    expect(text).toMatch(/^chain_endpoint_budget_ahead_ratio\{.*endpoint="0".*\} [0-9]/m);
  });

  test('that is used up slows background work, and refuses nothing', async () => {
    await start(1, { plan: used() });
    expect(endpoints.mayBegin('follow', 'payments')).toBe(true);
    await who();
    expect(endpoints.mayBegin('follow', 'payments')).toBe(false);
    expect(await who()).toBe(0);
  });

  test('does not slow reads from another endpoint', async () => {
    await start(2, { plan: used() });
    await who();
    expect([endpoints.mayBegin('audit', 'background', 1), endpoints.mayBegin('audit', 'background', 1)]).toEqual([
      true,
      false,
    ]);
    expect(endpoints.mayBegin('audit', 'background', 0)).toBe(true);
  });
});

test('endpoints are asked for their heads less often while nothing is read, as in a replica on standby', async () => {
  const [, idle] = await start(2, { probeIntervalMs: OFTEN_MS });
  const standby = { endpoints, nodes };
  const [, second] = await start(2, { probeIntervalMs: OFTEN_MS });
  while (second!.requests() < 20) await who();
  expect(idle!.requests()).toBeLessThan(second!.requests() / 2);
  standby.endpoints.close();
  await Promise.all(standby.nodes.map((node) => node.close()));
});
