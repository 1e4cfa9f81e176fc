import type { Redis } from '@quittance/local-backends/redis.ts';
import type { BenchmarkContext } from '../benchmark.ts';
import type { Backends } from './backends.ts';
import type { WebhookMerchant } from './webhook-merchants.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

/** Something that does each job at least once, with two worker processes. Every cell begins with new ones and no jobs. */
export type Contender = { name: string; open(surroundings: Surroundings): Promise<System> };

export type Surroundings = {
  backends: Backends;
  redis: (Redis & { restart: Backends['postgres'] }) | null;
  /** Gets the workers' logs; no other cell uses it. */
  directory: string;
  /** A name for a database or a virtual host that no other cell uses. */
  name: string;
  /** Where webhooks go. It remembers nothing of earlier cells. */
  receiver: WebhookReceiver;
  merchants: readonly WebhookMerchant[];
  onEnd: BenchmarkContext['onEnd'];
};

export type System = {
  /** Adds a job for each id. @throws when that was not acknowledged; some may have been added. */
  add(ids: readonly string[]): Promise<void>;
  done(): Promise<Done>;
  /** Jobs on record that are not done. */
  left(): Promise<number>;
  /** SIGKILL for one of the two workers, in turn; it is then started again. */
  killWorker(nth: number): Promise<void>;
  store: Store;
};

/** When each job was done first (`machineMs`), and how often one was done that had been done before. */
export type Done = { first: ReadonlyMap<string, number>; repeated: number };

/** The server that keeps the jobs. */
export type Store = {
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends every connection to the contender's jobs. */
  cut(): Promise<void>;
  /** Opens a transaction that keeps vacuum from removing rows. @returns what ends it. Null where there is no such thing. */
  holdSnapshot: (() => Promise<() => Promise<void>>) | null;
};
