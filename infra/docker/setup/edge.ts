import { writeFile } from 'node:fs/promises';
import { renderNginx } from '../../nginx/render.ts';
import { readTrustedProxies } from '../../nginx/trusted-proxies.ts';
import { required } from './environment.ts';

/** Where the edge listens in its container. */
const listen = '8080';

/**
 * Writes the edge's nginx.conf to EDGE_CONFIGURATION_FILE: in front of EDGE_GATEWAYS (`host:port`, separated by commas), trusting
 * EDGE_TRUSTED_PROXIES. nginx writes all its files in EDGE_DIRECTORY.
 * @throws Error naming what is missing or wrong.
 */
export async function writeEdgeConfiguration(env: NodeJS.ProcessEnv): Promise<string> {
  const file = required(env, 'EDGE_CONFIGURATION_FILE');
  const configuration = renderNginx({
    directory: required(env, 'EDGE_DIRECTORY'),
    edge: { listen, gateway: required(env, 'EDGE_GATEWAYS').split(','), trustedProxies: readTrustedProxies(env) },
  });
  await writeFile(file, configuration);
  return `${file} is written`;
}
