import { join } from 'node:path';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { isNetwork, renderNginx } from '../../nginx/render.ts';
import { nginxUser, startNginx, type Nginx } from '@quittance/local-backends/nginx.ts';
import { StackError, type StackDirectory } from './directory.ts';
import type { Ports } from './ports.ts';

/** nginx as the public door, and as the balancer in front of each service that has several replicas. */
export async function startEdge(options: {
  directory: StackDirectory;
  ports: Ports;
  replicas: number;
  trustedProxies: string[];
}): Promise<Nginx> {
  const { directory, ports, replicas, trustedProxies } = options;
  const user = nginxUser();
  const balanced = replicas > 1 ? serviceNames : [];
  const configuration = renderNginx({
    directory: directory.nginx,
    ...(user !== undefined && { user }),
    edge: { listen: local(ports.edge), gateway: ports.replicas['api-gateway'].map(local), trustedProxies },
    balancers: balanced.map((name) => ({
      name,
      listen: local(ports.balancers[name]),
      replicas: ports.replicas[name].map(local),
    })),
  });
  return startNginx({
    directory: directory.nginx,
    toolsDirectory: directory.tools,
    logFile: join(directory.logs, 'nginx.log'),
    configuration,
    ports: [ports.edge, ...balanced.map((name) => ports.balancers[name])],
  });
}

/** @throws StackError when EDGE_TRUSTED_PROXIES has an entry that is no address or network. */
export function readTrustedProxies(env: NodeJS.ProcessEnv): string[] {
  const entries = (env['EDGE_TRUSTED_PROXIES'] ?? '').split(',').map((entry) => entry.trim());
  const proxies = entries.filter((entry) => entry !== '');
  const stranger = proxies.find((proxy) => !isNetwork(proxy));
  if (stranger === undefined) return proxies;
  throw new StackError(
    `EDGE_TRUSTED_PROXIES must list addresses or networks such as 10.0.0.0/8, separated by commas, and "${stranger}" is neither.`,
  );
}

const local = (port: number): string => `127.0.0.1:${port}`;
