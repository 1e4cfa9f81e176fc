import type { JourneyStack } from '../../support/journey-stack.ts';

/** Stops a process and starts it again. @returns seconds from its start until it says that it is ready. */
export async function secondsToReady(service: JourneyStack['services'][number]): Promise<number> {
  await service.stop();
  const startedAt = performance.now();
  await service.start();
  return (performance.now() - startedAt) / 1_000;
}
