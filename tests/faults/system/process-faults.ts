import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import type { ServiceProcess } from '@quittance/local-stack/stack/service-process.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';
import { createClocks, type Clocks } from './clocks.ts';
import type { Act, FaultKind, Scene } from './fault.ts';

/** Points between two steps where a process can be killed, and the services that have each. */
const faultPoints: readonly (readonly [point: string, services: readonly ServiceName[]])[] = [
  ['commit-allowed', ['payments', 'api-gateway', 'quota', 'webhook-dispatcher']],
  ['request-committed', ['payments', 'api-gateway', 'quota', 'webhook-dispatcher']],
  ['message-committed', ['payments', 'chain-watcher', 'webhook-dispatcher', 'quota']],
  ['outbox-published', ['payments', 'chain-watcher', 'api-gateway', 'webhook-dispatcher']],
  ['creation-written', ['payments']],
  ['creation-committed', ['payments']],
  ['expiry-claimed', ['payments']],
  ['blocks-read', ['chain-watcher']],
  ['blocks-written', ['chain-watcher']],
  ['blocks-committed', ['chain-watcher']],
  ['reorg-written', ['chain-watcher']],
  ['backfill-written', ['chain-watcher']],
  ['delivery-claimed', ['webhook-dispatcher']],
  ['webhook-answered', ['webhook-dispatcher']],
];

/** The largest error of a process's clock, in both directions. Beyond this, a webhook's receiver treats its signature as replayed. */
const MOST_SECONDS_OFF = 200;

/** All faults of service processes, one at a time. */
export async function createProcessFaults({ world, until, replacing }: Scene): Promise<FaultKind> {
  const { services } = world.stack;
  const replicas = (name: ServiceName) => services.filter((one) => one.name === name);
  const clocks = await createClocks(world.directory);
  const pick = (chance: Chance): Act => {
    const name = chance.pick(serviceNames);
    const one = chance.pick(replicas(name));
    const forMs = chance.between(500, 8_000);
    const wait = () => until(forMs);
    return chance.weighted<() => Act>([
      [4, () => ({ name: `${name} killed`, run: () => one.kill() })],
      [2, () => ({ name: `all of ${name} killed`, run: () => Promise.all(replicas(name).map((each) => each.kill())) })],
      [3, () => ({ name: `${name} frozen`, run: () => frozen(one.pid, wait) })],
      [2, () => ({ name: `${name} restarted`, run: () => replacing(one, () => restarted(one)) })],
      [6, () => killedSomewhere(chance, wait)],
      [clocks === null ? 0 : 4, () => clockOff(chance, wait, name, one)],
    ])();
  };
  const killedSomewhere = (chance: Chance, wait: () => Promise<unknown>): Act => {
    const [point, services] = chance.pick(faultPoints);
    const service = chance.pick(services);
    const one = chance.pick(replicas(service));
    return { name: `${service} killed at ${point}`, run: () => replacing(one, () => killedAt(one, point, wait)) };
  };
  const clockOff = (chance: Chance, wait: () => Promise<unknown>, name: ServiceName, one: ServiceProcess): Act => {
    const seconds = chance.between(1, MOST_SECONDS_OFF);
    const isAhead = chance.happens(0.5);
    return {
      name: `${name}'s clock ${isAhead ? 'ahead' : 'behind'}`,
      run: () => replacing(one, () => withWrongClock(one, clocks!, isAhead ? seconds : -seconds, wait)),
    };
  };
  return {
    names: [
      ...serviceNames.flatMap((name) => [
        ...['killed', 'frozen', 'restarted'].map((what) => `${name} ${what}`),
        `all of ${name} killed`,
        ...(clocks === null ? [] : [`${name}'s clock ahead`, `${name}'s clock behind`]),
      ]),
      ...faultPoints.flatMap(([point, services]) => services.map((service) => `${service} killed at ${point}`)),
    ],
    impossible: clocks === null ? ['clocks that are off: neither libfaketime nor Debian packages to take it from'] : [],
    next: pick,
  };
}

/** The process may be gone by then, because a frozen process can still be killed. */
async function frozen(pid: number, meanwhile: () => Promise<unknown>): Promise<void> {
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  signal('SIGSTOP');
  await meanwhile();
  signal('SIGCONT');
}

/** While PostgreSQL is down, it does not get ready. */
export async function restarted(
  one: ServiceProcess,
  settings: NodeJS.ProcessEnv = {},
  checkout?: string,
): Promise<void> {
  const change = { settings, ...(checkout !== undefined && { checkout }) };
  await eventually(() => one.restart(change), { timeoutMs: 300_000, intervalMs: 500 });
}

/** From now on each of its processes dies at that point, until it is replaced by one that does not. */
async function killedAt(one: ServiceProcess, point: string, meanwhile: () => Promise<unknown>): Promise<void> {
  // It may die before it is ever ready.
  await one.restart({ settings: { FAULT_POINT: point } }).catch(() => undefined);
  await meanwhile();
  await restarted(one, { FAULT_POINT: '' });
}

/** A process that starts with the correct time. Its clock is set to a wrong one, and later back, while it runs. */
async function withWrongClock(
  one: ServiceProcess,
  clocks: Clocks,
  seconds: number,
  wait: () => Promise<unknown>,
): Promise<void> {
  const clock = await clocks.make();
  await restarted(one, clock.settings);
  await clock.set(seconds);
  await wait();
  await clock.set(0);
  await wait();
  await restarted(one, clocks.none);
}
