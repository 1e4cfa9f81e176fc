import './global-setup.ts';

/**
 * jest's globalTeardown: stops what the set-up started. If the run is killed earlier, the backends stop by themselves.
 */
export default async function tearDown(): Promise<void> {
  await globalThis.quittanceTestBackends?.stop();
}
