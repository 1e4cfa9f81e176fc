import { expect, test } from '@jest/globals';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testChain } from '@quittance/testkit/chain.ts';
import { misbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createEndpoints } from '../src/rpc/endpoints.ts';
import type { RpcError } from '../src/rpc/errors.ts';
import { readHead } from '../src/rpc/reads.ts';

test.each([1, 2])(
  'an endpoint, one of %p, that accepts requests and never answers opens its circuit at the second one, however long each lasts',
  async (count) => {
    const chain = await testChain();
    const nodes = await Promise.all(Array.from({ length: count }, () => misbehavingNode(chain)));
    const plain = { headers: {}, wsUrl: null, dailyPlan: null, requestsPerSecond: null };
    const endpoints = createEndpoints({
      network: {
        id: 'local',
        chain_id: chain.chainId,
        isProven: false,
        endpoints: nodes.map(({ url }) => ({ ...plain, url })),
      },
      ...{ timeoutMs: 2_000, logger: testLogger, probeIntervalMs: 3_600_000 },
      metrics: createMetrics({ service: 'test', processMetrics: false }),
    });
    const read = () =>
      endpoints
        .ask(async (rpc) => {
          await readHead(rpc);
          return rpc.endpoint;
        })
        .catch((error: unknown) => (error as RpcError).kind);
    const state = () => endpoints.states()[0]!.state;
    try {
      expect(await read()).toBe(0);
      nodes[0]!.refuse(() => 'stall');
      const other = count === 1 ? 'timeout' : 1;
      expect([await read(), state()]).toEqual([other, 'closed']);
      expect(await read()).toBe(other);
      // It is half-open when the next probe is due.
      expect(['open', 'half_open']).toContain(state());
    } finally {
      endpoints.close();
      await Promise.all([...nodes, chain].map((one) => one.close()));
    }
  },
);
