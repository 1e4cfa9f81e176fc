import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireFreePort } from '@quittance/local-backends/ports.ts';
import { stackDirectory, type StackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { portPlan, type Ports } from '@quittance/local-stack/stack/ports.ts';
import { startStack, type Stack } from '@quittance/local-stack/stack/stack.ts';
import { testBroker } from '@quittance/testkit/broker.ts';

export type JourneyStack = Stack & { close(): Promise<void> };

/**
 * A new complete stack, started as by `npm start`, whose data is deleted afterwards.
 * @param options.single as in startStack().
 * @param options.withTron as in startStack().
 * @param options.checkout as in startStack().
 * @param options.withoutKeys as in startStack().
 * @param options.sharesBroker whether the stack may use a virtual host of the test run's RabbitMQ, if the run has one. Its own RabbitMQ
 * takes four seconds of processor time.
 * @param options.prepare changes its directory before anything starts there.
 */
export async function journeyStack({
  replicas = 1,
  single = false,
  withTron = false,
  sharesBroker = false,
  settings,
  checkout,
  withoutKeys = false,
  prepare,
}: {
  replicas?: number;
  single?: boolean;
  withTron?: boolean;
  sharesBroker?: boolean;
  settings?: Record<string, string>;
  checkout?: string;
  withoutKeys?: boolean;
  prepare?: (directory: StackDirectory, ports: Ports) => Promise<void>;
} = {}): Promise<JourneyStack> {
  const directory = stackDirectory(await mkdtemp(join(tmpdir(), 'quittance-journey-')));
  const lines: string[] = [];
  const remove = () => rm(directory.root, { recursive: true, force: true });
  const broker = sharesBroker ? await runsBroker() : null;
  try {
    const portBase = await freePortBase(replicas);
    await prepare?.(directory, portPlan(portBase, replicas));
    const stack = await startStack({
      directory,
      portBase,
      replicas,
      single,
      withTron,
      withoutKeys,
      ...(checkout !== undefined && { checkout }),
      environment: { ...ownEnvironment(), ...broker?.settings, ...settings },
      say: (line) => lines.push(line),
    });
    const close = async (): Promise<void> => {
      await stack.stop();
      await broker?.close();
      await remove();
    };
    return { ...stack, close };
  } catch (error) {
    await broker?.close();
    // The directory is kept, because its logs explain the failure.
    throw new Error(`the stack in ${directory.root} did not start after:\n${lines.join('\n')}`, { cause: error });
  }
}

/** @returns null if no backends were started for the run, because only complete stacks are tested. */
async function runsBroker(): Promise<{ settings: Record<string, string>; close(): Promise<void> } | null> {
  const { TEST_AMQP_URL: amqpUrl, TEST_AMQP_MANAGEMENT_URL: managementUrl } = process.env;
  if (!amqpUrl || !managementUrl) return null;
  const { url, close } = await testBroker();
  return { settings: { AMQP_URL: url, AMQP_MANAGEMENT_URL: managementUrl }, close };
}

/** Our environment without what jest adds, and without backends and a mail server that a developer may have named for `npm start`: a journey has its own. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const foreign = [
    'SMTP_URL',
    'TELEGRAM_BOT_TOKEN',
    'POSTGRES_URL',
    'AMQP_URL',
    'CHAIN_RPC_URL',
    'NODE_OPTIONS',
    'NODE_ENV',
  ];
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.includes(name)));
}

/** A base above which every port of the plan is free at the moment. */
export async function freePortBase(replicas: number): Promise<number> {
  const attempts = 50;
  // Workers of jest that search at the same time must not find the same ports.
  const worker = Number(process.env['JEST_WORKER_ID'] ?? 0);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const base = 20_000 + 800 * Math.floor(Math.random() * 15) + 100 * (worker % 8);
    const { replicas: services, balancers, ...single } = portPlan(base, replicas);
    const ports = [...Object.values(single), ...Object.values(balancers), ...Object.values(services).flat()];
    const isFree = await Promise.all(ports.map((port) => requireFreePort(port, 'a test'))).then(
      () => true,
      () => false,
    );
    if (isFree) return base;
  }
  throw new Error('found no free range of ports');
}
