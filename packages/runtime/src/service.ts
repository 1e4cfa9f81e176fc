import { armFaultPoint } from './fault-point.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { createLogger, type Logger } from './logger.ts';
import { settleMemory } from './memory.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { readFrameConfig, type TracingSettings } from './service-settings.ts';
import { ConfigurationError } from './settings.ts';
import { installTracer } from './tracing/tracing.ts';

/** sysexits.h EX_CONFIG: a supervisor can tell a wrong configuration from a crash. */
const EXIT_CONFIGURATION = 78;
const EXIT_SIGNALLED = 130;

/**
 * The frame of every service's main.ts: settings, logger, metrics, signals and the end of the process.
 * SIGTERM and SIGINT close what `start` registered, newest first, within 25 s; a second signal exits at once.
 * Exit codes: 0 after a clean stop, 78 for a wrong configuration (every problem is printed), 1 for anything else.
 */
export async function startService<C>({
  name,
  readConfig,
  start,
}: {
  name: string;
  readConfig: (env: NodeJS.ProcessEnv) => C;
  start: (context: { config: C; logger: Logger; metrics: Metrics; lifecycle: Lifecycle }) => Promise<void>;
}): Promise<void> {
  const { config, logger, tracing } = configure(name, readConfig);
  const metrics = createMetrics({ service: name });
  const { lifecycle, stopped } = createLifecycle({ logger });
  void stopped.then(({ clean }) => process.exit(clean ? 0 : 1));
  stopOnSignals(lifecycle);
  try {
    // Closed last, so that it exports what happens while stopping.
    if (tracing !== null) lifecycle.onStop('tracing', await startTracing(tracing, { service: name, logger, metrics }));
    await start({ config, logger, metrics, lifecycle });
    settleMemory();
    if (!lifecycle.stopping.aborted) logger.info('started');
  } catch (error) {
    // A signal during start-up makes what start() waits for fail; that is a stop, not a failure.
    if (lifecycle.stopping.aborted) return;
    logger.fatal({ error }, 'start failed');
    process.exit(1);
  }
}

/** @returns what exports the last spans and stops. */
async function startTracing(
  settings: TracingSettings,
  options: { service: string; logger: Logger; metrics: Metrics },
): Promise<() => Promise<void>> {
  // Loaded only here: it costs a process without tracing 100 ms.
  const { exportTraces } = await import('./tracing/export-traces.ts');
  const { tracer, close } = exportTraces({ ...options, settings });
  installTracer(tracer);
  options.logger.info({ ratio: settings.ratio }, 'traces are exported');
  return close;
}

/** The frame of a process that does one thing and ends, such as a migration. Same settings, logs and exit codes as a service. */
export async function runTask<C>({
  name,
  readConfig,
  run,
}: {
  name: string;
  readConfig: (env: NodeJS.ProcessEnv) => C;
  run: (context: { config: C; logger: Logger }) => Promise<void>;
}): Promise<void> {
  const { config, logger } = configure(name, readConfig);
  try {
    await run({ config, logger });
    process.exit(0);
  } catch (error) {
    logger.fatal({ error }, 'failed');
    process.exit(1);
  }
}

/** Reads the frame's settings and the service's together, so that one start shows every problem of both. */
function configure<C>(
  name: string,
  readConfig: (env: NodeJS.ProcessEnv) => C,
): { config: C; logger: Logger; tracing: TracingSettings | null } {
  const frame = attempt(() => readFrameConfig(process.env));
  const service = attempt(() => readConfig(process.env));
  if ('problems' in frame || 'problems' in service) {
    const problems = [
      ...('problems' in frame ? frame.problems : []),
      ...('problems' in service ? service.problems : []),
    ];
    const lines = [...new Set(problems)].map((problem) => `  ${problem}\n`);
    process.stderr.write(`${name} cannot start with these settings:\n${lines.join('')}`);
    process.exit(EXIT_CONFIGURATION);
  }
  const logger = createLogger({ service: name, level: frame.value.logLevel });
  // An uncaught error leaves unknown state: exit, and let the supervisor restart the process.
  for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(event, (error: unknown) => {
      logger.fatal({ error }, event);
      process.exit(1);
    });
  }
  if (frame.value.faultPoint !== null) {
    logger.warn(
      { fault_point: frame.value.faultPoint },
      'a fault point is armed: this process will kill or freeze itself there',
    );
    armFaultPoint(frame.value.faultPoint);
  }
  return { config: service.value, logger, tracing: frame.value.tracing };
}

function attempt<T>(read: () => T): { value: T } | { problems: readonly string[] } {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof ConfigurationError) return { problems: error.problems };
    return { problems: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
  }
}

function stopOnSignals(lifecycle: Lifecycle): void {
  let signalled = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (signalled) process.exit(EXIT_SIGNALLED);
      signalled = true;
      void lifecycle.stop(signal);
    });
  }
}
