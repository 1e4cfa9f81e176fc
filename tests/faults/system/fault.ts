import type { ServiceProcess } from '@quittance/local-stack/stack/service-process.ts';
import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';
import type { Shops } from './shops.ts';
import type { World } from './world.ts';

/** Begins a fault and heals it again. */
export type Act = { name: string; run: () => Promise<unknown> };

/** What a kind of fault has to work with. */
export type Scene = {
  world: World;
  shops: Shops;
  /** Passes so much time, or less when the run ends. */
  until: (ms: number) => Promise<unknown>;
  /** Restarts the process, or does something with several of them: nobody else may put another in its place meanwhile. */
  replacing: <T>(one: ServiceProcess, run: () => Promise<T>) => Promise<T>;
};

/** Faults of one kind, of which one goes on at a time. */
export type FaultKind = {
  /** All that can happen, by the names that are told; nothing where this machine cannot. */
  names: readonly string[];
  /** What cannot happen on this machine, with the reason. */
  impossible?: readonly string[];
  /** What happens next. */
  next(chance: Chance): Act;
  /** Called once nothing is begun any more, for what must be different in the end. */
  end?(): Promise<void>;
  /** What they brought about, so that one that does nothing is not mistaken for one that was survived. */
  lines?(): Promise<string[]>;
};
