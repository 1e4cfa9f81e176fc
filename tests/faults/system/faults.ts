import { setTimeout as delay } from 'node:timers/promises';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import type { ServiceProcess } from '@quittance/local-stack/stack/service-process.ts';
import { withClient } from '@quittance/postgres/roles/service-databases.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';
import { honestFaults } from '../../../services/chain-watcher/test/random-run/plan-faults.ts';
import type { Shops } from './shops.ts';
import type { World } from './world.ts';

export type Faults = {
  /** Begins nothing more, and waits until everything is healed. */
  end(): Promise<void>;
};

/** Where a process can be killed between two steps, and whose processes pass there. */
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

const processFaults = ['killed', 'frozen', 'restarted'] as const;
const backendFaults = ['PostgreSQL killed', 'sessions ended', 'RabbitMQ killed', 'RabbitMQ stopped'] as const;
const receiverFaults = {
  refuses: { status: 500 },
  redirects: { status: 302, headers: { location: 'https://elsewhere.example.com/' } },
  'asks to wait': { status: 429, headers: { 'retry-after': '2' } },
  'is slow': { delay_ms: 3_000 },
  hangs: { hang: true },
  resets: { reset: true },
} as const;

/** All that can happen, by the names that are told. */
export const faultNames: readonly string[] = [
  ...serviceNames.flatMap((name) => [...processFaults.map((what) => `${name} ${what}`), `all of ${name} killed`]),
  ...faultPoints.flatMap(([point, services]) => services.map((service) => `${service} killed at ${point}`)),
  ...backendFaults,
  'blocks replaced',
  ...honestFaults.map((fault) => `node: ${fault}`),
  ...Object.keys(receiverFaults).map((what) => `receiver ${what}`),
];

/** Begins a fault and heals it again. */
type Act = { name: string; run: () => Promise<unknown> };

/** Several of these go on at once, each one fault after the other. */
export function startFaults(world: World, shops: Shops, chance: Chance, note: (what: string) => Promise<void>): Faults {
  const ending = new AbortController();
  const until = (ms: number) => delay(ms, undefined, { signal: ending.signal }).catch(() => undefined);
  const lane = async (name: string, pauseMs: readonly [number, number], next: (chance: Chance) => Act) => {
    const own = chance.apart(name);
    for (;;) {
      await until(own.between(...pauseMs));
      if (ending.signal.aborted) return;
      const act = next(own);
      await note(act.name);
      await act.run();
    }
  };
  const lanes = [
    lane('processes', [500, 4_000], (own) => processFault(world, own, until)),
    lane('backends', [8_000, 20_000], (own) => backendFault(world, own, until)),
    lane('blocks', [2_000, 9_000], (own) => ({
      name: 'blocks replaced',
      run: () => world.chain.reorganise(own),
    })),
    ...world.endpoints.map((endpoint, number) =>
      lane(`endpoint ${number}`, [500, 5_000], (own) => {
        const trouble = { fault: own.pick(honestFaults), share: own.pick([0.2, 0.5, 1]), steps: own.between(1, 6) };
        return {
          name: `node: ${trouble.fault}`,
          run: async () => {
            endpoint.begin(trouble);
            await until(own.between(500, 5_000));
            endpoint.end(trouble);
          },
        };
      }),
    ),
    lane('receivers', [500, 4_000], (own) => receiverFault(world, shops, own, until)),
  ];
  return {
    async end() {
      ending.abort();
      await Promise.all(lanes);
      for (const endpoint of world.endpoints) endpoint.calm();
      await fetch(`${world.stack.file.receiver.url}/behaviour`, { method: 'DELETE' });
    },
  };
}

function processFault({ stack }: World, chance: Chance, until: (ms: number) => Promise<unknown>): Act {
  const replicas = (name: ServiceName) => stack.services.filter((one) => one.name === name);
  const name = chance.pick(serviceNames);
  const one = chance.pick(replicas(name));
  const forMs = chance.between(500, 8_000);
  return chance.weighted<() => Act>([
    [4, () => ({ name: `${name} killed`, run: () => one.kill() })],
    [
      2,
      () => ({
        name: `all of ${name} killed`,
        run: () => Promise.all(replicas(name).map((each) => each.kill())),
      }),
    ],
    [3, () => ({ name: `${name} frozen`, run: () => frozen(one.pid, () => until(forMs)) })],
    [2, () => ({ name: `${name} restarted`, run: () => restarted(one) })],
    [
      6,
      () => {
        const [point, services] = chance.pick(faultPoints);
        const service = chance.pick(services);
        return {
          name: `${service} killed at ${point}`,
          run: () => killedAt(chance.pick(replicas(service)), point, () => until(forMs)),
        };
      },
    ],
  ])();
}

/** The process may be gone by then: a freeze does not keep others from killing it. */
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

/** While PostgreSQL is away, it does not get ready. */
async function restarted(one: ServiceProcess, settings: NodeJS.ProcessEnv = {}): Promise<void> {
  await eventually(() => one.restart({ settings }), { timeoutMs: 300_000, intervalMs: 500 });
}

/** Each of its processes from now on dies as it comes to that place, until it is replaced by one that does not. */
async function killedAt(one: ServiceProcess, point: string, meanwhile: () => Promise<unknown>): Promise<void> {
  // It may die before it was ready once.
  await one.restart({ settings: { FAULT_POINT: point } }).catch(() => undefined);
  await meanwhile();
  await restarted(one, { FAULT_POINT: '' });
}

function backendFault(
  { postgres, rabbitmq, stack }: World,
  chance: Chance,
  until: (ms: number) => Promise<unknown>,
): Act {
  const awayMs = chance.between(0, 4_000);
  const away = async (begin: () => Promise<unknown>, end: () => Promise<unknown>): Promise<void> => {
    await begin();
    await until(awayMs);
    await end();
  };
  const acts: Record<(typeof backendFaults)[number], () => Promise<void>> = {
    'PostgreSQL killed': () => away(postgres.kill, postgres.start),
    'sessions ended': () =>
      withClient(stack.file.postgres_url, async (client) => {
        const others = 'pid <> pg_backend_pid() and backend_type = $1';
        await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`, [
          'client backend',
        ]);
      }),
    'RabbitMQ killed': () => away(rabbitmq.kill, rabbitmq.start),
    'RabbitMQ stopped': () => away(rabbitmq.current().stopApp, rabbitmq.current().startApp),
  };
  const name = chance.pick(backendFaults);
  return { name, run: acts[name] };
}

function receiverFault({ stack }: World, { all }: Shops, chance: Chance, until: (ms: number) => Promise<unknown>): Act {
  const { host } = chance.pick(all);
  const what = chance.pick(Object.keys(receiverFaults) as (keyof typeof receiverFaults)[]);
  const tell = (method: string, query: string, body?: object) =>
    fetch(`${stack.file.receiver.url}/behaviour${query}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return {
    name: `receiver ${what}`,
    run: async () => {
      await tell('POST', '', { host, ...receiverFaults[what] });
      await until(chance.between(1_000, 8_000));
      await tell('DELETE', `?host=${host}`);
    },
  };
}
