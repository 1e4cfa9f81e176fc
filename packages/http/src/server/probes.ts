import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { withTimeout } from '@quittance/runtime/concurrency/deadline.ts';

import { unavailable } from '../errors.ts';
import type { Route } from './route.ts';

const READY_TIMEOUT_MS = 1_000;

/**
 * The probes of a process. /livez: whether it runs at all; it checks no backend, because a restart would not help.
 * /readyz: whether it should get requests now; 503 while a backend is missing or the process is stopping, else with
 * what `ready` returns. /metrics: Prometheus' text format.
 */
export function probes({
  name,
  logger,
  metrics,
  ready,
  stopping,
}: {
  name: string;
  logger: Logger;
  metrics: Metrics;
  ready: () => Promise<unknown>;
  stopping: () => boolean;
}): Route[] {
  return [
    { method: 'GET', path: '/livez', handle: () => ({ status: 200, body: { status: 'live', service: name } }) },
    {
      method: 'GET',
      path: '/readyz',
      handle: async () => {
        if (stopping()) throw unavailable(new Error('the process is stopping'));
        try {
          const more = await withTimeout(READY_TIMEOUT_MS, ready());
          return { status: 200, body: { status: 'ready', service: name, ...(more ?? {}) } };
        } catch (error) {
          logger.debug({ error }, 'not ready');
          throw unavailable(error);
        }
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      handle: async () => {
        const { contentType, text } = await metrics.render();
        return { status: 200, body: text, headers: { 'content-type': contentType } };
      },
    },
  ];
}
