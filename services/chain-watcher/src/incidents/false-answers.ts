import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { startLoop, type Loop, type LoopContext } from '@quittance/runtime/loop.ts';
import type { ChainMetrics } from '../metrics.ts';
import { reportIncident } from './report.ts';

/** Each endpoint's incident is written at most this often, however often the endpoint is asked. */
const INTERVAL_MS = 1_000;

type Parts = LoopContext & { network: ChainNetwork; pool: Pool; chainMetrics: ChainMetrics };

/** Opens an incident for each endpoint that gives false answers. Any replica may find them out, also one that does not lead. */
export function startFalseAnswersLoop({ network, pool, logger, metrics, chainMetrics }: Parts) {
  /** The last false answer of each endpoint that is not written yet. */
  const noted = new Map<number, string>();
  const loop: Loop = startLoop({
    ...{ name: `false answers ${network.id}`, intervalMs: INTERVAL_MS, logger, metrics },
    async run() {
      for (const [endpoint, answer] of [...noted]) {
        const incident = { kind: 'false_answer', cause: `endpoint ${endpoint}`, detail: { endpoint, answer } } as const;
        await transaction(pool, (tx) =>
          reportIncident(tx, { network, metrics: chainMetrics, logger }, incident, 'an endpoint gave a false answer'),
        );
        if (noted.get(endpoint) === answer) noted.delete(endpoint);
      }
      return { more: false };
    },
  });
  return {
    note(endpoint: number, answer: string): void {
      noted.set(endpoint, answer);
      loop.wake();
    },
    close: () => loop.close(),
  };
}
