/** What jest tells a sequencer about a test file. */
type TestFile = {
  path: string;
  context: { config: { rootDir: string }; hasteFS: { getSize(path: string): number | null } };
};

/** Test files that take more than fourteen seconds, the longest first. A missing one only costs time. */
export const longest = [
  'tests/deployment/image.long.test.ts',
  'tests/conformance/conformance.test.ts',
  'tests/benchmarks/smoke.long.test.ts',
  'tests/faults/neighbours.long.test.ts',
  'services/chain-watcher/test/random.long.int.test.ts',
  'tests/local-stack/commands.long.test.ts',
  'packages/ops/test/enforcement.long.int.test.ts',
  'tests/journeys/on-one-stack.long.test.ts',
  'tests/journeys/replicas.long.test.ts',
  'tests/journeys/one-payment.test.ts',
  'tests/conformance/outage.long.test.ts',
  'tests/clients/clients.long.test.ts',
  'tests/browser/journey.test.ts',
  'tests/browser/script.long.test.ts',
  'services/chain-watcher/test/cross-check.long.int.test.ts',
  'services/payments/test/model/model.long.int.test.ts',
  'services/chain-watcher/test/sleep.long.int.test.ts',
  'services/chain-watcher/test/nodes.long.int.test.ts',
  'services/chain-watcher/test/audit.long.int.test.ts',
  'services/payments/test/frozen.long.int.test.ts',
  'tests/browser/languages.long.test.ts',
  'tests/browser/states.long.test.ts',
  'services/chain-watcher/test/recorded/recorded.long.int.test.ts',
  'services/chain-watcher/test/scenarios/withheld.long.int.test.ts',
  'services/chain-watcher/test/leader.long.int.test.ts',
  'services/webhook-dispatcher/test/faults/dispatchers.long.int.test.ts',
  'services/chain-watcher/test/scenarios/refusals.long.int.test.ts',
  'packages/messaging/test/outbox.int.test.ts',
  'tests/conformance/events.test.ts',
  'services/payments/test/expiry.int.test.ts',
  'tests/browser/reading.long.test.ts',
  'services/chain-watcher/test/rescan.long.int.test.ts',
  'services/chain-watcher/test/scenarios/crowd.long.int.test.ts',
  'packages/local-backends/test/rabbitmq.long.int.test.ts',
  'services/chain-watcher/test/scenarios/frozen-leader.long.int.test.ts',
  'services/chain-watcher/test/jump.long.int.test.ts',
  'services/webhook-dispatcher/test/crash.long.int.test.ts',
  'tests/observability/alerts.test.ts',
  'services/chain-watcher/test/scenarios/outage.long.int.test.ts',
  'services/chain-watcher/test/reorg.int.test.ts',
  'services/chain-watcher/test/scenarios/claims.long.int.test.ts',
  'services/payments/test/faults.int.test.ts',
  'services/webhook-dispatcher/test/faults/backends.long.int.test.ts',
  'packages/ops/test/policy-sequences.long.int.test.ts',
  'services/chain-watcher/test/scenarios/tron.long.int.test.ts',
  'services/payments/test/confirmations.int.test.ts',
  'services/webhook-dispatcher/test/one-post.int.test.ts',
  'packages/chain-reader/test/endpoints.int.test.ts',
  'packages/postgres/test/await-migrations.int.test.ts',
  'packages/local-backends/test/postgres.long.int.test.ts',
  'services/payments/test/creation-kills.long.int.test.ts',
  'services/payments/test/creation-races.long.int.test.ts',
  'services/chain-watcher/test/scan.int.test.ts',
  'services/payments/test/incidents.int.test.ts',
  'packages/messaging/test/consumer.int.test.ts',
  'services/chain-watcher/test/incidents.int.test.ts',
  'packages/local-backends/test/chain.long.int.test.ts',
];

/**
 * Starts with the files that take longest, so that no worker runs one of them alone at the end. Jest itself would order by earlier
 * durations, which a clean clone does not have, and then by file size, which says little here.
 */
export default class LongestFirst {
  sort(tests: TestFile[]): TestFile[] {
    const placeOf = ({ path, context }: TestFile): number => {
      const place = longest.indexOf(path.slice(context.config.rootDir.length + 1));
      return place === -1 ? longest.length : place;
    };
    const sizeOf = ({ path, context }: TestFile): number => context.hasteFS.getSize(path) ?? 0;
    return tests.toSorted((a, b) => placeOf(a) - placeOf(b) || sizeOf(b) - sizeOf(a));
  }

  cacheResults(): void {
    // Nothing is stored: the order is the same on every machine.
  }
}
