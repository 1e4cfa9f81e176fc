import { eventually } from '@quittance/testkit/eventually.ts';
import type { Answered, Traffic } from '../../faults/rolling/traffic.ts';
import { withDatabase } from '../../support/database.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';

/** Seconds from the death of a process under traffic. Its supervisor starts it again. */
export type Recovery = {
  service: string;
  /** Until it is ready. */
  ready: number;
  /** Until a creation sent after that death was answered. */
  creation: number;
  /** Until an event of a payment that became PAID later is stored as delivered. */
  event: number;
  /** Requests with a wrong answer. */
  failed: number;
};

const PATIENCE = { timeoutMs: 120_000, intervalMs: 50 };

export const failedOf = ({ failures, late }: Traffic): number => failures.length + late.length;

/** Kills one process (SIGKILL) and measures when traffic works again. @param creations answered so far; it grows. */
export async function recover(
  { file }: JourneyStack,
  service: JourneyStack['services'][number],
  { traffic, creations }: { traffic: Traffic; creations: readonly Answered[] },
): Promise<Recovery> {
  const failedBefore = failedOf(traffic);
  const answeredBefore = creations.length;
  await service.kill();
  const [diedAt, died] = [performance.now(), new Date()];
  const untilReady = async (): Promise<number> => {
    const { ok } = await fetch(`${service.url}/readyz`, { signal: AbortSignal.timeout(1_000) });
    if (!ok) throw new Error(`${service.name} is not ready again`);
    return (performance.now() - diedAt) / 1_000;
  };
  const untilCreation = (): number => {
    const first = creations.slice(answeredBefore).find(({ startedAt }) => startedAt > diedAt);
    if (first === undefined) throw new Error(`no creation was answered after the death of ${service.name}`);
    return (first.startedAt + first.ms - diedAt) / 1_000;
  };
  const untilEvent = (): Promise<number> =>
    withDatabase(file.postgres_url, async (db) => {
      const { rows } = await db.query<{ seconds: number | null }>(
        `select extract(epoch from min(d.delivered_at) - $1)::float8 as seconds
           from payments.payment p join webhooks.event e using (payment_id) join webhooks.delivery d using (event_id)
          where p.paid_at > $1 and d.status = 'delivered'`,
        [died],
      );
      const seconds = rows[0]?.seconds ?? null;
      if (seconds === null) throw new Error(`no event arrived after the death of ${service.name}`);
      return seconds;
    });
  const [ready, creation, event] = await Promise.all([
    eventually(untilReady, PATIENCE),
    eventually(untilCreation, PATIENCE),
    eventually(untilEvent, { ...PATIENCE, intervalMs: 250 }),
  ]);
  return { service: service.name, ready, creation, event, failed: failedOf(traffic) - failedBefore };
}
