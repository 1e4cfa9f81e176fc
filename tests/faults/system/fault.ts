import type { ServiceProcess } from '@quittance/local-stack/stack/service-process.ts';
import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';
import type { Shops } from './shops.ts';
import type { World } from './world.ts';

/** Causes a fault and heals it again. */
export type Act = { name: string; run: () => Promise<unknown> };

/** What a kind of fault works with. */
export type Scene = {
  world: World;
  shops: Shops;
  /** Waits for this time, or less if the run ends. */
  until: (ms: number) => Promise<unknown>;
  /** Restarts the process, or changes several of them, while nothing else may replace it. */
  replacing: <T>(one: ServiceProcess, run: () => Promise<T>) => Promise<T>;
};

/** Faults of one kind, which run one at a time. */
export type FaultKind = {
  /** All possible faults, by name; empty if this machine allows none. */
  names: readonly string[];
  /** Faults that are not possible on this machine, with the reason. */
  impossible?: readonly string[];
  /** The next fault. */
  next(chance: Chance): Act;
  /** Called once nothing is started any more, for what must be different at the end. */
  end?(): Promise<void>;
  /** The effects, so that a fault that does nothing does not count as survived. */
  lines?(): Promise<string[]>;
};
