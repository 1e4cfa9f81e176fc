import type { Lifecycle } from './lifecycle.ts';
import type { Logger } from './logger.ts';

/** sysexits.h EX_CONFIG: lets a supervisor tell a wrong configuration from a crash. */
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
 * Declares, before any service starts, that several services share this process. Each reads its own environment. They
 * stop together, and the process exits after the last of them. Traces and uncaught errors of the process itself are
 * recorded under `name`.
 */
export function shareProcess(declared: Shared): void {
  shared = declared;
}

export const environmentOf = (service: string): NodeJS.ProcessEnv => shared?.environmentOf(service) ?? process.env;

/** The name of the process: its own if services share it, else that of its only service. */
export const processName = (service: string): string => shared?.name ?? service;

/**
 * SIGTERM and SIGINT stop every service of the process. When one service ends, the others stop too. A second signal
 * exits immediately. The process exits when all services have stopped, with 0 if all closed cleanly.
 * @returns whether this is the first service of the process.
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

/** An uncaught error leaves an unknown state, so the process exits and its supervisor restarts it. */
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
