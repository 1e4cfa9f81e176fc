import type { Lifecycle } from './lifecycle.ts';
import type { Logger } from './logger.ts';

/** sysexits.h EX_CONFIG: a supervisor can tell a wrong configuration from a crash. */
export const EXIT_CONFIGURATION = 78;
const EXIT_SIGNALLED = 130;

type Shared = { name: string; environmentOf: (service: string) => NodeJS.ProcessEnv };
type Running = { lifecycle: Lifecycle; stopped: Promise<{ clean: boolean }> };

/** Null in a process of one service. */
let shared: Shared | null = null;
const running: Running[] = [];
let stopReason: string | null = null;
let isGuarded = false;

/**
 * Declares, before any service starts, that several share this process: each reads its own environment, they stop together, and the
 * process ends with the last of them. What is the process's own, its traces and its uncaught errors, has `name`.
 */
export function shareProcess(declared: Shared): void {
  shared = declared;
}

export const environmentOf = (service: string): NodeJS.ProcessEnv => shared?.environmentOf(service) ?? process.env;

/** Of the process: its only service's, if it has one. */
export const processName = (service: string): string => shared?.name ?? service;

/**
 * SIGTERM and SIGINT stop every service of the process, and the end of one stops the others; a second signal exits at once.
 * The process exits when all have stopped, with 0 if all closed cleanly.
 * @returns whether it is the first service of the process.
 */
export function joinProcess(service: Running): boolean {
  const isFirst = running.push(service) === 1;
  if (isFirst) stopOnSignals();
  if (stopReason !== null) void service.lifecycle.stop(stopReason);
  void service.stopped.then(async () => {
    stopAll(stopReason ?? 'another service stopped');
    const ends = await Promise.all(running.map(({ stopped }) => stopped));
    process.exit(ends.every(({ clean }) => clean) ? 0 : 1);
  });
  return isFirst;
}

function stopAll(reason: string): void {
  stopReason ??= reason;
  for (const { lifecycle } of running) void lifecycle.stop(stopReason);
}

function stopOnSignals(): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopReason !== null) process.exit(EXIT_SIGNALLED);
      stopAll(signal);
    });
  }
}

/** An uncaught error leaves unknown state: exit, and let the supervisor restart the process. */
export function exitOnUncaught(logger: () => Logger): void {
  if (isGuarded) return;
  isGuarded = true;
  for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(event, (error: unknown) => {
      logger().fatal({ error }, event);
      process.exit(1);
    });
  }
}
