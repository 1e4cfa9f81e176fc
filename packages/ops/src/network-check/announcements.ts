import type { RpcNode } from '@quittance/chain-reader/rpc/network.ts';
import { followNewHeads } from '@quittance/chain-reader/rpc/new-heads.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { duration, finding, type Finding } from './finding.ts';

const CHECK = 'WebSocket';
const BLOCKS_WAITED = 4;
const MIN_WAIT_SECONDS = 10;
const MAX_WAIT_SECONDS = 90;

/** Whether the endpoint's WebSocket announces a block within the time of a few. */
export async function checkAnnouncements(networkId: string, node: RpcNode, blockSeconds: number): Promise<Finding> {
  if (node.wsUrl === null) return finding(CHECK, 'unknown', 'none is named');
  const waitSeconds = Math.min(MAX_WAIT_SECONDS, Math.max(MIN_WAIT_SECONDS, BLOCKS_WAITED * blockSeconds));
  const startedAt = performance.now();
  const { promise, resolve }: PromiseWithResolvers<boolean> = Promise.withResolvers();
  const deadline = setTimeout(() => resolve(false), 1000 * waitSeconds);
  const following = followNewHeads({
    network: { id: networkId, endpoints: [node] },
    onAnnounced: () => resolve(true),
    logger: createLogger({ service: 'ops', level: 'silent' }),
    metrics: createMetrics({ service: 'ops', processMetrics: false }),
  });
  try {
    if (await promise) {
      const tookSeconds = (performance.now() - startedAt) / 1000;
      return finding(CHECK, 'ok', `it announced a block after ${duration(tookSeconds)}`);
    }
    const found = `no block was announced in ${duration(waitSeconds)}`;
    return finding(CHECK, 'warning', found, 'leave ws_url out: the chain is polled without it');
  } finally {
    clearTimeout(deadline);
    following.close();
  }
}
