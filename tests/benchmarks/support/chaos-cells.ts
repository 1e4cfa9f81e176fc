import { setTimeout as delay } from 'node:timers/promises';
import type { System } from './chaos-contender.ts';
import type { Load } from './chaos-load.ts';

/**
 * A disturbance under steady load. The names after the dash are those of the public benchmark of PostgreSQL queues
 * (hardbyte/postgresql-job-queue-benchmarking, run of 2026-05-09), where each lasts one to 120 minutes.
 */
export type Cell = {
  name: string;
  about: string;
  /** Ends when the disturbance does. */
  disturb(system: System, load: Load, sizes: DisturbanceSizes): Promise<void>;
  /** Whether it means anything for this store. */
  fits?: (system: System) => boolean;
};

export type DisturbanceSizes = {
  kills: number;
  killEveryMs: number;
  databaseDownMs: number;
  cutMs: number;
  snapshotMs: number;
  floodJobs: number;
};

const CUT_EVERY_MS = 500;

export const cells: readonly Cell[] = [
  {
    name: 'workers-killed',
    about: 'one of two workers after the other is killed (SIGKILL) and started again — crash_recovery, repeated_kills',
    async disturb(system, _load, { kills, killEveryMs }) {
      for (let nth = 0; nth < kills; nth += 1) {
        await system.killWorker(nth);
        await delay(killEveryMs);
      }
    },
  },
  {
    name: 'database-restarted',
    about: 'the server that keeps the jobs is stopped for some seconds — postgres_restart',
    async disturb({ store }, _load, { databaseDownMs }) {
      await store.stop();
      await delay(databaseDownMs);
      await store.start();
    },
  },
  {
    name: 'connections-cut',
    about: 'every connection to the jobs is ended twice a second — pg_backend_kill',
    async disturb({ store }, _load, { cutMs }) {
      for (let spent = 0; spent < cutMs; spent += CUT_EVERY_MS) {
        await store.cut();
        await delay(CUT_EVERY_MS);
      }
    },
  },
  {
    name: 'snapshot-held',
    about: 'a transaction stays open, so that vacuum removes nothing — idle_in_tx',
    fits: ({ store }) => store.holdSnapshot !== null,
    async disturb({ store }, _load, { snapshotMs }) {
      const letGo = await store.holdSnapshot?.();
      await delay(snapshotMs);
      await letGo?.();
    },
  },
  {
    name: 'flood',
    about: 'thousands of jobs are added as fast as they are taken — event_burst',
    disturb: (_system, load, { floodJobs }) => load.flood(floodJobs),
  },
];
