import type { Lifecycle } from '@quittance/runtime/lifecycle.ts';

import { createApp } from './app.ts';
import { listen } from './listen.ts';

type AppParts = Omit<Parameters<typeof createApp>[0], 'internalToken' | 'internalTokenPrevious'>;
type ServerConfig = { host: string; port: number; internalToken: string; internalTokenPrevious: string | null };

/** Serves a service's routes with its settings until the process stops. */
export async function serve({
  config: { host, port, internalToken, internalTokenPrevious },
  lifecycle,
  ...parts
}: AppParts & { config: ServerConfig; lifecycle: Lifecycle }): Promise<void> {
  const app = createApp({ ...parts, internalToken, internalTokenPrevious });
  await listen(app, { host, port, lifecycle, logger: parts.logger });
}
