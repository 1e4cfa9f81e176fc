import type { Quittance } from '@quittance/sdk';

/** The account of each provider that Medusa has started, for the job: Medusa hands the options of a provider to nothing else. */
export const accounts = new Set<Quittance>();
