import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';

type Verify = (signingKey: string, headers: Record<string, string>, body: Buffer) => void;

/** Each throws for a key that it cannot read, and for a request that it does not believe. */
export const standardLibraries: readonly (readonly [name: string, verify: Verify])[] = [
  ['standardwebhooks', (key, headers, body) => void new Standard(key).verify(body, headers)],
  ['svix', (key, headers, body) => new Svix(key).verify(body, headers)],
];
