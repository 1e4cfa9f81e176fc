import { setTimeout as delay } from 'node:timers/promises';
import { createSemaphore } from '@quittance/runtime/concurrency/semaphore.ts';
import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';
import { honestFaults } from '../../../services/chain-watcher/test/random-run/plan-faults.ts';
import { createBackendFaults } from './backend-faults.ts';
import type { FaultKind, Scene } from './fault.ts';
import { createMessageFaults, type Poison } from './message-faults.ts';
import { createProcessFaults } from './process-faults.ts';
import type { Shops } from './shops.ts';
import { createVersionFaults } from './version-faults.ts';
import type { World } from './world.ts';

export type Faults = {
  /** The names of all possible faults, and those that are not possible on this machine. */
  names: readonly string[];
  impossible: readonly string[];
  /** Messages that should become dead letters. */
  poison: Poison;
  /** Faults that could not be caused or healed. */
  failed: readonly string[];
  /** Starts them. */
  start(note: (what: string) => Promise<void>): void;
  /** Starts no more, and waits until everything is healed. */
  end(): Promise<void>;
  /** Their effects. */
  lines(): Promise<string[]>;
};

/** Behaviours of the local receiver. */
const behaviours = {
  refuses: { status: 500 },
  redirects: { status: 302, headers: { location: 'https://elsewhere.example.com/' } },
  'asks to wait': { status: 429, headers: { 'retry-after': '2' } },
  'is slow': { delay_ms: 3_000 },
  hangs: { hang: true },
  resets: { reset: true },
} as const;

/** Runs several kinds at once, each with one fault after the other. */
export async function createFaults(
  world: World,
  shops: Shops,
  chance: Chance,
  say: (line: string) => void,
): Promise<Faults> {
  const ending = new AbortController();
  const until = (ms: number) => delay(ms, undefined, { signal: ending.signal }).catch(() => undefined);
  const places = new Map(world.stack.services.map((one) => [one, createSemaphore(1)]));
  const scene: Scene = { world, shops, until, replacing: (one, run) => places.get(one)!(run) };
  const poison: Poison = { sent: new Set(), confirmed: new Set() };
  const messages = createMessageFaults(scene, poison);
  const kinds: [lane: string, pauseMs: readonly [number, number], kind: FaultKind][] = [
    ['processes', [500, 4_000], await createProcessFaults(scene)],
    ['versions', [1_000, 8_000], createVersionFaults(scene)],
    ['backends', [8_000, 20_000], createBackendFaults(scene)],
    ['messages', [500, 4_000], messages],
    ['blocks', [2_000, 9_000], blockFaults(scene)],
    ['chain clock', [5_000, 20_000], chainClockFaults(scene)],
    ...world.endpoints.map((_, number): (typeof kinds)[number] => [
      `endpoint ${number}`,
      [500, 5_000],
      endpointFaults(scene, number),
    ]),
    ['receivers', [500, 4_000], receiverFaults(scene)],
  ];
  let lanes: Promise<void>[] = [];
  const failed: string[] = [];
  const attempt = async (what: string, run: () => Promise<unknown> | undefined): Promise<void> => {
    try {
      await run();
    } catch (error) {
      failed.push(`${what} could not run: ${String(error)}`);
      say(`  ${failed.at(-1)!}`);
    }
  };
  const lane = async ([name, pauseMs, kind]: (typeof kinds)[number], note: (what: string) => Promise<void>) => {
    const own = chance.apart(name);
    while (kind.names.length > 0) {
      await until(own.between(...pauseMs));
      if (ending.signal.aborted) break;
      const act = kind.next(own);
      await note(act.name);
      await attempt(act.name, () => act.run());
    }
    await attempt(`the end of ${name}`, () => kind.end?.());
  };
  return {
    names: [...new Set(kinds.flatMap(([, , { names }]) => names))],
    impossible: kinds.flatMap(([, , { impossible = [] }]) => impossible),
    ...{ poison, failed },
    lines: async () => (await Promise.all(kinds.map(async ([, , kind]) => (await kind.lines?.()) ?? []))).flat(),
    start(note) {
      lanes = kinds.map((kind) => lane(kind, note));
    },
    async end() {
      ending.abort();
      await Promise.all(lanes);
      await messages.close();
      for (const endpoint of world.endpoints) endpoint.calm();
      await fetch(`${world.stack.file.receiver.url}/behaviour`, { method: 'DELETE' });
    },
  };
}

const blockFaults = ({ world }: Scene): FaultKind => ({
  names: ['blocks replaced'],
  next: (chance) => ({ name: 'blocks replaced', run: () => world.chain.reorganise(chance) }),
});

/** How wrong the blocks' clocks are, in seconds. */
const BENDS = [-120, -48, -20, -8, 8, 30, 60, 120];

const chainClockFaults = ({ world, until }: Scene): FaultKind => ({
  names: ['chain clock ahead', 'chain clock behind'],
  next(chance) {
    const seconds = chance.pick(BENDS);
    const forMs = chance.between(10_000, 60_000);
    return {
      name: seconds > 0 ? 'chain clock ahead' : 'chain clock behind',
      run: async () => {
        world.chain.bend(seconds);
        await until(forMs);
        world.chain.bend(0);
      },
    };
  },
});

function endpointFaults({ world, until }: Scene, number: number): FaultKind {
  const endpoint = world.endpoints[number]!;
  return {
    names: honestFaults.map((fault) => `node: ${fault}`),
    next(chance) {
      const trouble = {
        fault: chance.pick(honestFaults),
        share: chance.pick([0.2, 0.5, 1]),
        steps: chance.between(1, 6),
      };
      const forMs = chance.between(500, 5_000);
      return {
        name: `node: ${trouble.fault}`,
        run: async () => {
          endpoint.begin(trouble);
          await until(forMs);
          endpoint.end(trouble);
        },
      };
    },
  };
}

function receiverFaults({ world: { stack }, shops: { all }, until }: Scene): FaultKind {
  const tell = (method: string, query: string, body?: object) =>
    fetch(`${stack.file.receiver.url}/behaviour${query}`, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  return {
    names: Object.keys(behaviours).map((what) => `receiver ${what}`),
    next(chance) {
      const { host } = chance.pick(all);
      const what = chance.pick(Object.keys(behaviours) as (keyof typeof behaviours)[]);
      const forMs = chance.between(1_000, 8_000);
      return {
        name: `receiver ${what}`,
        run: async () => {
          await tell('POST', '', { host, ...behaviours[what] });
          await until(forMs);
          await tell('DELETE', `?host=${host}`);
        },
      };
    },
  };
}
