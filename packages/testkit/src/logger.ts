import { createLogger } from '@quittance/runtime/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import type { LogLevel, Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';

/** Silent, unless TEST_LOG_LEVEL is set. */
export const testLogger: Logger = createLogger({
  service: 'test',
  level: (process.env.TEST_LOG_LEVEL ?? 'silent') as LogLevel,
});

/** A registry for code under test that nobody scrapes. A test that reads metrics creates its own. */
export const testMetrics: Metrics = createMetrics({ service: 'test', processMetrics: false });
