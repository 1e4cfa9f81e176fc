import type { Logger } from './logger.ts';

/**
 * Does ahead what the first request would wait for or stumble over: libraries such as Prisma load and compile on their first query,
 * which took up to half a second. A database that is not there yet is no reason not to start.
 */
export async function warmUp(logger: Logger, tasks: (() => Promise<unknown>)[]): Promise<void> {
  const results = await Promise.allSettled(tasks.map((task) => task()));
  for (const result of results) {
    if (result.status === 'rejected') logger.debug({ error: result.reason as unknown }, 'not warmed up');
  }
}
