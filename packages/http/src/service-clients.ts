import type { Lifecycle } from '@quittance/runtime/lifecycle.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';

import { createServiceClient, type ServiceClient } from './client.ts';

/** Makes the clients of one process, which end with it. */
export const serviceClients =
  (parts: { internalToken: string; logger: Logger; metrics: Metrics; lifecycle: Lifecycle }) =>
  (name: string, baseUrl: string): ServiceClient => {
    const { lifecycle, ...common } = parts;
    const client = createServiceClient({ name, baseUrl, ...common });
    lifecycle.onStop(`client ${name}`, () => client.close());
    return client;
  };
