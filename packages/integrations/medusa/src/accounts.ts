import { createClient, type Quittance } from '@quittance/sdk';
import type { QuittanceOptions } from './options.ts';

const clients = new Map<string, Quittance>();

/** The account that the options name. Several providers may share one. */
export function accountOf({ baseUrl, apiKey }: QuittanceOptions): Quittance {
  const name = JSON.stringify([baseUrl, apiKey]);
  const client = clients.get(name) ?? createClient({ baseUrl, apiKey });
  clients.set(name, client);
  return client;
}

/** For the job: Medusa gives the options of a provider to the provider alone. */
export const accounts = (): Iterable<Quittance> => clients.values();
