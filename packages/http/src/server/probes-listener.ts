import { createApp } from './app.ts';
import { listen } from './listen.ts';

type Parts = Pick<Parameters<typeof createApp>[0], 'name' | 'logger' | 'metrics' | 'ready'>;

/**
 * Serves /livez, /readyz and /metrics on a port of their own, for a process whose other port the public reaches. Begin it before that one is
 * listened on: the last to begin is the first to close, so that /readyz says 503 while the other one finishes its requests.
 */
export const listenForProbes = (
  parts: Parts,
  { host, port, lifecycle }: Pick<Parameters<typeof listen>[1], 'host' | 'port' | 'lifecycle'>,
): Promise<{ port: number }> =>
  listen(createApp({ ...parts, routes: [] }), {
    ...{ host, port, lifecycle, logger: parts.logger },
    message: 'listening for probes',
  });
