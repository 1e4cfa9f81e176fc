import type { Logger } from './logger.ts';

/**
 * Asks questions whose answers nobody needs, because libraries such as Prisma load and compile on their first query, which took
 * up to half a second. A database that is not there yet is no reason not to start.
 */
export async function warmUp(logger: Logger, questions: (() => Promise<unknown>)[]): Promise<void> {
  const results = await Promise.allSettled(questions.map((ask) => ask()));
  for (const result of results) {
    if (result.status === 'rejected') logger.debug({ error: result.reason as unknown }, 'not warmed up');
  }
}
