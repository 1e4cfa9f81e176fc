import type { StackDirectory } from '@quittance/local-stack/stack/directory.ts';
import type { Collector } from '@quittance/testkit/collector.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';

/** What these journeys share. It is set before the first of their tests runs. */
export type Shared = {
  stack: JourneyStack;
  directory: StackDirectory;
  /** Receives the traces of its services. */
  collector: Collector;
};
