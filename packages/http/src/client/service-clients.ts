import type { Lifecycle } from '@quittance/runtime/lifecycle.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';

import { createServiceClient, type ServiceClient } from './client.ts';

/** Makes the clients of one process, which end with it. One that may take longer than usual says so with its `timeoutMs`. */
export const serviceClients =
  (parts: { internalToken: string; logger: Logger; metrics: Metrics; lifecycle: Lifecycle }) =>
  (name: string, baseUrl: string, timeoutMs?: number): ServiceClient => {
    const { lifecycle, ...common } = parts;
    const client = createServiceClient({ name, baseUrl, ...(timeoutMs !== undefined && { timeoutMs }), ...common });
    lifecycle.onStop(`client ${name}`, () => client.close());
    return client;
  };
