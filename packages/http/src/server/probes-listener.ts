import { createApp } from './app.ts';
import { listen } from './listen.ts';

type Parts = Pick<Parameters<typeof createApp>[0], 'name' | 'logger' | 'metrics' | 'ready'>;

/**
 * Serves /livez, /readyz and /metrics on a separate port, for a process whose other port is public. Call it before the
 * other port is opened: the last to open is the first to close, so /readyz answers 503 while the other port finishes
 * its requests.
 */
export const listenForProbes = (
  parts: Parts,
  { host, port, lifecycle }: Pick<Parameters<typeof listen>[1], 'host' | 'port' | 'lifecycle'>,
): Promise<{ port: number }> =>
  listen(createApp({ ...parts, routes: [] }), {
    ...{ host, port, lifecycle, logger: parts.logger },
    message: 'listening for probes',
  });
