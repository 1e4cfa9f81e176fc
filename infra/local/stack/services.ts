import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import type { StackDirectory } from './directory.ts';
import type { Ports } from './ports.ts';
import {
  consoleEnvironment,
  serviceEnvironment,
  singleEnvironment,
  type ServiceEnvironmentOptions,
} from './service-environment.ts';
import { ServiceProcess } from './service-process.ts';
import type { StackFile } from './stack-file.ts';

/** The URL of each service: its only replica, or the balancer in front of several. */
export function urlsOfServices(ports: Ports, replicas: number): Record<ServiceName, string> {
  const urls = serviceNames.map((name) => {
    const port = replicas === 1 ? ports.replicas[name][0] : ports.balancers[name];
    return [name, `http://127.0.0.1:${String(port)}`];
  });
  return Object.fromEntries(urls) as Record<ServiceName, string>;
}

export type ProcessOptions = {
  directory: StackDirectory;
  ports: Ports;
  settings: ServiceEnvironmentOptions;
  checkout: string;
  /** Called whenever a process was replaced by a new one. */
  onChange: (what: string) => void;
};

/** Creates the console's process without starting it. It is not one of the replicas: a fault in it affects no payment. */
export function consoleProcess({ directory, ports, settings, checkout, onChange }: ProcessOptions): ServiceProcess {
  return new ServiceProcess({
    ...{ name: 'console', replica: 1, ports: { console: ports.console }, checkout, onChange },
    probesPort: ports.consoleProbes,
    ...{ logDirectory: directory.logs, pidDirectory: directory.pids },
    env: consoleEnvironment(settings, ports),
  });
}

/** Creates every replica of every service, or one process for all, without starting them. */
export function serviceProcesses(options: ProcessOptions & { single: boolean }): ServiceProcess[] {
  const { directory, ports, settings, checkout, single, onChange } = options;
  const place = { checkout, logDirectory: directory.logs, pidDirectory: directory.pids };
  if (single) {
    const only = Object.fromEntries(serviceNames.map((name) => [name, ports.replicas[name][0]])) as Record<
      ServiceName,
      number
    >;
    const env = singleEnvironment(settings, only);
    return [new ServiceProcess({ name: 'single', replica: 1, ports: only, env, ...place, onChange })];
  }
  return serviceNames.flatMap((name) =>
    ports.replicas[name].map((port, position) => {
      const env = serviceEnvironment(settings, name, port);
      return new ServiceProcess({ name, replica: position + 1, ports: { [name]: port }, env, ...place, onChange });
    }),
  );
}

export function describeServices(
  services: readonly ServiceProcess[],
  urls: Record<ServiceName, string>,
): StackFile['services'] {
  const described = serviceNames.map((name) => {
    const replicas = services.flatMap(({ urls: { [name]: url }, pid }) => (url === undefined ? [] : [{ url, pid }]));
    return [name, { url: urls[name], replicas }];
  });
  return Object.fromEntries(described) as StackFile['services'];
}
