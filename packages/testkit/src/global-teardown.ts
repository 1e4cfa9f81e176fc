import './global-setup.ts';

/** jest's globalTeardown: ends what the set-up started. A run that dies before is cleaned up by the backends' leash. */
export default async function tearDown(): Promise<void> {
  await globalThis.quittanceTestBackends?.stop();
}
