import { join } from 'node:path';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { renderNginx } from '../../nginx/render.ts';
import { nginxUser, startNginx, type Nginx } from '@quittance/local-backends/nginx.ts';
import type { StackDirectory } from './directory.ts';
import type { Ports } from './ports.ts';

/** nginx as the edge, and as the balancer in front of each service that has several replicas. */
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

const local = (port: number): string => `127.0.0.1:${port}`;
