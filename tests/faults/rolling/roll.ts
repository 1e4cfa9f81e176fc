import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';
import type { Kind, Traffic } from './traffic.ts';

/** The stack to restart, and its load. */
export type Rolling = { stack: JourneyStack; traffic: Traffic; say: (line: string) => void };

type Roll = {
  stack: JourneyStack;
  traffic: Traffic;
  /** Default: all of them. */
  services?: readonly ServiceName[];
  /** Settings for the processes from now on, in addition to their current ones. */
  settings?: (service: ServiceName) => Record<string, string>;
  /** The checkout whose code they run from now on. Default: the current one. */
  checkout?: string;
  /** The order in which the replicas are restarted. Default: service by service. */
  order?: <Replica>(replicas: readonly Replica[]) => readonly Replica[];
  /** Called once a new process has replaced the old one and is ready. */
  afterEach?: () => Promise<void>;
  say?: (line: string) => void;
};

/**
 * Restarts the replicas one after the other by SIGTERM, each as soon as the previous one is ready again.
 * @returns a line for each process that did not end cleanly.
 */
export async function roll({ stack, traffic, services = serviceNames, ...options }: Roll): Promise<string[]> {
  const { settings = () => ({}), checkout, afterEach, order = (all) => all, say = () => undefined } = options;
  const broken: string[] = [];
  const replicas = services.flatMap((name) =>
    stack.services.filter((one) => one.name === name).map((service) => ({ name, service })),
  );
  for (const { name, service } of order(replicas)) {
    const before = traffic.failures.length;
    const startedAt = performance.now();
    const ended = await service.restart({
      settings: settings(name),
      ...(checkout !== undefined && { checkout }),
    });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const failed = traffic.failures.length - before;
    say(`  ${ended}, and another is ready after ${seconds} s; ${failed} requests failed`);
    if (!ended.endsWith('exit code 0')) broken.push(`no clean stop: ${ended}`);
    await afterEach?.();
  }
  return broken;
}

/** A run in which something never happened proves nothing about it. */
export function emptiness({ answered, paid }: Traffic, more: readonly Kind[] = []): string[] {
  const usual = ['creation', 'list', 'limits', 'details', 'deliveries', 'public status', 'checkout page'];
  const kinds = [...usual, ...more.map(({ name }) => name)];
  const missing = kinds.filter((kind) => !answered.has(kind)).map((kind) => `no ${kind} was answered`);
  return paid.size === 0 ? [...missing, 'nothing was paid'] : missing;
}

export const describeTraffic = ({ answered, paid }: Traffic): string[] =>
  [...answered, ['paid on the chain', paid.size] as const].map(
    ([name, count]) => `  ${String(count).padStart(8)}  ${name}`,
  );
