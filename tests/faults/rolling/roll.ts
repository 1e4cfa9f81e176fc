import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';
import type { Kind, Traffic } from './traffic.ts';

/** What is rolled, under which load. */
export type Rolling = { stack: JourneyStack; traffic: Traffic; say: (line: string) => void };

type Roll = {
  stack: JourneyStack;
  traffic: Traffic;
  /** All of them unless given. */
  services?: readonly ServiceName[];
  /** What the processes are told from now on, beside what they were told before. */
  settings?: (service: ServiceName) => Record<string, string>;
  /** Whose code they run from now on; the same as before unless given. */
  checkout?: string;
  /** In which order the replicas of all of them are restarted; service by service unless given. */
  order?: <Replica>(replicas: readonly Replica[]) => readonly Replica[];
  /** Called once another process is ready in the place of the one before. */
  afterEach?: () => Promise<void>;
  say?: (line: string) => void;
};

/**
 * Restarts the replicas one after the other by SIGTERM, each as soon as the one before is ready again.
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

/** A run in which something never happened shows nothing about it. */
export function emptiness({ answered, paid }: Traffic, more: readonly Kind[] = []): string[] {
  const usual = ['creation', 'list', 'limits', 'details', 'deliveries', 'public status', 'checkout page'];
  const kinds = [...usual, ...more.map(({ name }) => name)];
  const missing = kinds.filter((kind) => !answered.has(kind)).map((kind) => `not one ${kind} was answered`);
  return paid.size === 0 ? [...missing, 'nothing was paid'] : missing;
}

export const describeTraffic = ({ answered, paid }: Traffic): string[] =>
  [...answered, ['paid on the chain', paid.size] as const].map(
    ([name, count]) => `  ${String(count).padStart(8)}  ${name}`,
  );
