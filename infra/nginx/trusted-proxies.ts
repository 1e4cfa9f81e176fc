import { isNetwork } from './render.ts';

/**
 * The addresses and networks in EDGE_TRUSTED_PROXIES, separated by commas.
 * @throws Error naming an entry that is neither.
 */
export function readTrustedProxies(env: NodeJS.ProcessEnv): string[] {
  const entries = (env['EDGE_TRUSTED_PROXIES'] ?? '').split(',').map((entry) => entry.trim());
  const proxies = entries.filter((entry) => entry !== '');
  const stranger = proxies.find((proxy) => !isNetwork(proxy));
  if (stranger === undefined) return proxies;
  throw new Error(
    `EDGE_TRUSTED_PROXIES must list addresses or networks such as 10.0.0.0/8, separated by commas, and "${stranger}" is neither.`,
  );
}
