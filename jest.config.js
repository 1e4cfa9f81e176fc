import { availableParallelism } from 'node:os';
import { fileURLToPath, URL } from 'node:url';

// Hundreds of processes are started from the same sources, and compiling these is a third of what a start costs. Workers inherit it.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('.local/compile-cache', import.meta.url));

/**
 * Projects, so that a unit test never waits for a database:
 * `unit` has no I/O, `int` gets real PostgreSQL and RabbitMQ from its global set-up, `system` (tests/) drives whole stacks.
 * What is called `*.long.*` is in `long-int` and `long-system`, for `npm run test:long` and the nightly run; `npm test` leaves it out.
 * ESM throughout: `npm test` starts Node with --experimental-vm-modules, which jest needs for that.
 */
const shared = {
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } },
    ],
  },
  testEnvironment: 'node',
  modulePathIgnorePatterns: ['<rootDir>/.local/'],
};

const backends = {
  globalSetup: '<rootDir>/packages/testkit/src/global-setup.ts',
  globalTeardown: '<rootDir>/packages/testkit/src/global-teardown.ts',
};

const int = ['<rootDir>/{packages,services,infra}/**/*.int.test.ts'];
const system = ['<rootDir>/tests/**/*.test.ts'];
const nodeModules = ['/node_modules/'];
const long = '[.]long[.]';
const short = '/(?!.*[.]long[.])[^/]*$';

export default {
  // The tests wait for processes, and for loops that look now and then. More of them at once, and some wait too long for each other.
  maxWorkers: availableParallelism() + 2,
  testSequencer: '<rootDir>/tests/support/longest-first.ts',
  // Tests start processes and wait for loops of the services. What never ends is to be found, not what a busy machine does late.
  testTimeout: 240_000,
  // Jest adds its own summary after them, so that the counts stay at the end.
  reporters: ['default', '<rootDir>/tests/conformance/report.ts'],
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/{packages,services,infra}/**/*.unit.test.ts'] },
    { ...shared, ...backends, displayName: 'int', testMatch: int, testPathIgnorePatterns: [...nodeModules, long] },
    { ...shared, displayName: 'system', testMatch: system, testPathIgnorePatterns: [...nodeModules, long] },
    {
      ...shared,
      ...backends,
      displayName: 'long-int',
      testMatch: int,
      testPathIgnorePatterns: [...nodeModules, short],
    },
    { ...shared, displayName: 'long-system', testMatch: system, testPathIgnorePatterns: [...nodeModules, short] },
  ],
};
