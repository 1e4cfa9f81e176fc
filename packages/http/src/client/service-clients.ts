import type { CallOwner } from '@quittance/contracts/service-name.ts';
import type { Lifecycle } from '@quittance/runtime/lifecycle.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { Trust } from '@quittance/runtime/trust.ts';

import { createCallerHeaders } from '../call-token.ts';
import { createServiceClient, type ServiceClient } from './client.ts';

type Parts = { caller: CallOwner; trust: Trust; logger: Logger; metrics: Metrics; lifecycle: Lifecycle };

/**
 * Creates the clients of one service, which close when the service stops. A client for slower calls passes its own
 * `timeoutMs`.
 */
export function serviceClients({ caller, trust, lifecycle, ...parts }: Parts) {
  const showCaller = createCallerHeaders(caller, trust);
  return (name: string, baseUrl: string, timeoutMs?: number): ServiceClient => {
    const common = { ...parts, showCaller, ...(timeoutMs !== undefined && { timeoutMs }) };
    const client = createServiceClient({ name, baseUrl, ...common });
    lifecycle.onStop(`client ${name}`, () => client.close());
    return client;
  };
}
