import { startRunBackends } from './run-backends.ts';
import type { Backend } from './backend.ts';

declare global {
  /** Passed from the set-up to the tear-down, which jest runs in the same process. */
  var quittanceTestBackends: Backend | undefined;
}

/** jest's globalSetup: starts the backends of the whole run. Tests get their addresses in process.env. */
export default async function setUp(): Promise<void> {
  const backends = await startRunBackends();
  globalThis.quittanceTestBackends = backends;
  Object.assign(process.env, backends.environment);
}
