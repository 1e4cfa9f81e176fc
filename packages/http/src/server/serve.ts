import type { ServiceName } from '@quittance/contracts/service-name.ts';
import type { Lifecycle } from '@quittance/runtime/lifecycle.ts';
import type { Trust } from '@quittance/runtime/trust.ts';

import { createApp } from './app.ts';
import { listen } from './listen.ts';
import { trustRoute, type LegacyRecord } from './trust-route.ts';

type AppParts = Omit<Parameters<typeof createApp>[0], 'trust' | 'name' | 'legacy'> & {
  name: ServiceName;
  legacy: LegacyRecord;
};
type ServerConfig = { host: string; port: number; trust: Trust };

/** Serves a service's routes, with its settings, until the process stops. */
export async function serve({
  config: { host, port, trust },
  lifecycle,
  ...parts
}: AppParts & { config: ServerConfig; lifecycle: Lifecycle }): Promise<void> {
  const routes = [...parts.routes, trustRoute(parts.name, trust, parts.legacy)];
  await listen(createApp({ ...parts, routes, trust }), { host, port, lifecycle, logger: parts.logger });
}
