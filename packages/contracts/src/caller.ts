import type { ServiceName } from './service-name.ts';

/** The operator's command line, on the local stack's machine or wherever it has a key. It may do what operators may. */
export const OPS = 'ops';

/** A process that makes internal calls, and signs them with its own key. */
export type Caller = ServiceName | typeof OPS;
