import { armFaultPoint } from './fault-point.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { createLogger, type Logger } from './logger.ts';
import { settleMemory } from './memory.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { environmentOf, EXIT_CONFIGURATION, exitOnUncaught, joinProcess, processName } from './process.ts';
import { readFrameConfig, type TracingSettings } from './service-settings.ts';
import { ConfigurationError } from './settings.ts';
import { installTracer } from './tracing/tracing.ts';

export type ServiceContext<C> = { config: C; logger: Logger; metrics: Metrics; lifecycle: Lifecycle };

/** Services of this process that have not finished starting. */
let starting = 0;

/**
 * What every service's main.ts calls: reads settings, creates the logger and metrics, handles signals and ends the
 * process. SIGTERM and SIGINT close what `start` registered, newest first, within 25 s. A second signal exits
 * immediately.
 * Exit codes: 0 after a clean stop, 78 for a wrong configuration (every problem is printed), 1 for anything else.
 */
export async function startService<C>({
  name,
  readConfig,
  start,
}: {
  name: string;
  readConfig: (env: NodeJS.ProcessEnv) => C;
  start: (context: ServiceContext<C>) => Promise<void>;
}): Promise<void> {
  const { config, logger, tracing } = configure(name, readConfig);
  const metrics = createMetrics({ service: name });
  const { lifecycle, stopped } = createLifecycle({ logger });
  const isFirst = joinProcess({ lifecycle, stopped });
  starting += 1;
  try {
    // Closed last, so that it also exports spans of the stop.
    if (tracing !== null && isFirst) {
      lifecycle.onStop('tracing', await startTracing(tracing, { service: name, logger, metrics }));
    }
    await start({ config, logger, metrics, lifecycle });
    starting -= 1;
    if (starting === 0) settleMemory();
    if (!lifecycle.stopping.aborted) logger.info('started');
  } catch (error) {
    // A signal during start-up makes what start() waits for fail. That is a stop, not a failure.
    if (lifecycle.stopping.aborted) return;
    logger.fatal({ error }, 'start failed');
    process.exit(1);
  }
}

/** @returns a function that exports the last spans and stops. */
async function startTracing(
  settings: TracingSettings,
  options: { service: string; logger: Logger; metrics: Metrics },
): Promise<() => Promise<void>> {
  // Loaded only when needed: loading takes 100 ms.
  const { exportTraces } = await import('./tracing/export-traces.ts');
  const { tracer, close } = exportTraces({ ...options, service: processName(options.service), settings });
  installTracer(tracer);
  options.logger.info({ ratio: settings.ratio }, 'traces are exported');
  return close;
}

/**
 * Runs a process that does one thing and ends, such as a migration. Same settings, logs and exit codes as a service.
 */
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

/** Reads the common settings and the service's own together, so that one start reports every problem of both. */
function configure<C>(
  name: string,
  readConfig: (env: NodeJS.ProcessEnv) => C,
): { config: C; logger: Logger; tracing: TracingSettings | null } {
  const frame = attempt(() => readFrameConfig(environmentOf(name)));
  const service = attempt(() => readConfig(environmentOf(name)));
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
  exitOnUncaught(() => createLogger({ service: processName(name), level: frame.value.logLevel }));
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
