import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { StackError } from './directory.ts';

export const maxReplicas = 10;
const defaultPortBase = 8080;

/** All ports of one stack, counted from PORT_BASE so that two checkouts can run at the same time. */
export type Ports = {
  edge: number;
  postgres: number;
  amqp: number;
  management: number;
  distribution: number;
  epmd: number;
  chain: number;
  tron: number;
  receiver: number;
  receiverControl: number;
  /** Port of the stack's own sources of exchange rates. */
  rates: number;
  console: number;
  /** Port of the console's health checks. */
  consoleProbes: number;
  /** Port of the notifier, which runs only on request, and where it takes webhooks. */
  notifier: number;
  notifierHooks: number;
  /** Port of the example shop, which runs only on request. */
  shop: number;
  /** Ports of each service's replicas. */
  replicas: Record<ServiceName, number[]>;
  /** Port of the balancer in front of a service with several replicas. */
  balancers: Record<ServiceName, number>;
};

/** @throws StackError when PORT_BASE is not a port or leaves too few ports above it. */
export function portBase(env: NodeJS.ProcessEnv): number {
  const text = env['PORT_BASE'] || String(defaultPortBase);
  const base = Number(text);
  const highest = 65_535 - 200;
  if (!/^\d+$/.test(text) || base < 1024 || base > highest) {
    throw new StackError(`PORT_BASE must be a whole number from 1024 to ${highest}, not "${text}".`);
  }
  return base;
}

export function portPlan(base: number, replicas: number): Ports {
  const perService = <T>(plan: (position: number) => T) =>
    Object.fromEntries(serviceNames.map((name, position) => [name, plan(position)])) as Record<ServiceName, T>;
  return {
    edge: base,
    postgres: base + 2,
    amqp: base + 3,
    management: base + 4,
    distribution: base + 5,
    epmd: base + 6,
    chain: base + 7,
    tron: base + 1,
    receiver: base + 8,
    receiverControl: base + 9,
    rates: base + 16,
    console: base + 18,
    consoleProbes: base + 17,
    shop: base + 19,
    notifier: base + 70,
    notifierHooks: base + 71,
    replicas: perService((position) => {
      return Array.from({ length: replicas }, (_, replica) => base + 20 + position * maxReplicas + replica);
    }),
    balancers: perService((position) => base + 10 + position),
  };
}
