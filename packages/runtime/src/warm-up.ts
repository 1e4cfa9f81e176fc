import type { Logger } from './logger.ts';

/**
 * Does, before the service starts, what its first request would otherwise wait for: libraries such as Prisma load and
 * compile on their first query, which took up to half a second. The service starts even if the database is not
 * available yet.
 */
export async function warmUp(logger: Logger, tasks: (() => Promise<unknown>)[]): Promise<void> {
  const results = await Promise.allSettled(tasks.map((task) => task()));
  for (const result of results) {
    if (result.status === 'rejected') logger.debug({ error: result.reason as unknown }, 'warm-up failed');
  }
}
