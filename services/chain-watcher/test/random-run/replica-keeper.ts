import { setTimeout as delay } from 'node:timers/promises';
import type { Replica, Replicas } from '../replica.ts';
import { GRACE_SECONDS } from './payment-publisher.ts';
import type { Chance } from './chance.ts';
import type { ReplicaStep } from './plan.ts';

export type ReplicaKeeper = {
  carryOut(step: ReplicaStep): Promise<void>;
  /** Waits until every replica that should come back is running, and none is paused. */
  allBack(): Promise<void>;
  counts: Record<ReplicaStep['kind'], number> & { ofLeader: number };
  /** Replicas that ended without being told to. */
  deaths: string[];
};

/** Keeps this many replicas running, and kills or pauses them as the plan says. */
export async function keepReplicas(replicas: Replicas, count: number, chance: Chance): Promise<ReplicaKeeper> {
  const awake = new Set<Replica>();
  const pending = new Set<Promise<void>>();
  const deaths: string[] = [];
  const counts = { kill: 0, terminate: 0, pause: 0, ofLeader: 0 };

  async function start(): Promise<void> {
    const replica = await replicas.start({ RPC_TIMEOUT_MS: '1500', WATCH_GRACE_SECONDS: String(GRACE_SECONDS) });
    awake.add(replica);
    void replica.exited.then((code) => {
      if (awake.delete(replica)) deaths.push(`a replica ended by itself with exit code ${String(code)}`);
    });
  }

  function later(work: Promise<void>): void {
    const kept: Promise<void> = work.finally(() => pending.delete(kept));
    pending.add(kept);
  }

  async function choose(who: ReplicaStep['who']): Promise<Replica | undefined> {
    const candidates = [...awake];
    if (who === 'any') return chance.pick(candidates);
    const leading = await Promise.all(candidates.map(leads));
    return candidates.find((_, position) => leading[position]) ?? candidates[0];
  }

  await Promise.all(Array.from({ length: count }, start));
  return {
    counts,
    deaths,
    async allBack() {
      while (pending.size > 0) await Promise.all(pending);
    },
    async carryOut(step) {
      const replica = await choose(step.who);
      if (replica === undefined) return;
      counts[step.kind] += 1;
      if (await leads(replica)) counts.ofLeader += 1;
      awake.delete(replica);
      if (step.kind === 'pause') {
        replica.process.kill('SIGSTOP');
        later(
          delay(step.forMs).then(() => {
            replica.process.kill('SIGCONT');
            awake.add(replica);
          }),
        );
        return;
      }
      replica.process.kill(step.kind === 'kill' ? 'SIGKILL' : 'SIGTERM');
      later(
        replica.exited.then(async () => {
          await delay(step.restartAfterMs);
          await start();
        }),
      );
    },
  };
}

async function leads({ url }: Replica): Promise<boolean> {
  try {
    const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(2_000) });
    return /^chain_leader\{.*\} 1$/m.test(await response.text());
  } catch {
    return false;
  }
}
