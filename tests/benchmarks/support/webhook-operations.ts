import { randomUUID } from 'node:crypto';
import { newId } from '@quittance/contracts/ids.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { createHostCircuits } from '../../../services/webhook-dispatcher/src/lanes/host-circuits.ts';
import {
  createInFlightLimits,
  laneCircuitPolicy,
  limits,
} from '../../../services/webhook-dispatcher/src/lanes/in-flight-limits.ts';
import { createQueries } from '../../../services/webhook-dispatcher/src/events/reads.sql.ts';
import {
  readBacklog,
  giveUpDeliveries,
  readWaitingLanes,
} from '../../../services/webhook-dispatcher/src/lanes/backlog.sql.ts';
import { lanesOf } from '../../../services/webhook-dispatcher/src/lanes/lane.sql.ts';
import { claimDeliveries, settleAttempts } from '../../../services/webhook-dispatcher/src/lanes/claim.sql.ts';
import { insertEvents } from '../../../services/webhook-dispatcher/src/events/event.sql.ts';
import { withDatabase } from '../../support/database.ts';
import type { Operation } from './statement-costs.ts';
import { bodyOf } from './webhook-merchants.ts';

const SAMPLE = 200;
const ROOM = 50;

/** Every frequent operation of the dispatcher and its readers. */
export async function webhookOperations({ adminUrl, pool }: { adminUrl: string; pool: Pool }): Promise<Operation[]> {
  const tx: Transaction = { query: (text, values) => pool.query(text, values), afterCommit: () => undefined };
  const queries = createQueries(pool, 'webhooks');
  const free = createInFlightLimits(limits, createHostCircuits({ recoveredAt: limits.host }), () => 0).claimBounds();
  const sample = await sampleOf(adminUrl);
  const pick = (n: number) => sample[n % sample.length]!;
  const claim = async () => {
    const { claimed } = await claimDeliveries(pool, { ...free, room: ROOM, leaseSeconds: 45 });
    if (claimed.length === 0) throw new Error('nothing was due any more');
    return claimed;
  };
  return [
    {
      name: 'event of a payment',
      run: (n) => {
        const [eventId, paymentId] = [newId('evt'), newId('pay')];
        const body = Buffer.from(bodyOf(eventId, paymentId));
        return insertEvents(tx, [{ eventId, paymentId, merchantId: pick(n).merchant_id, body }]);
      },
    },
    { name: 'claim', run: claim },
    {
      name: 'claim and settle',
      run: async () => {
        const outcome = { duration_ms: 12, http_status: 200, error_category: null, remote_ip: '8.8.8.8' };
        const started_at = new Date();
        await settleAttempts(
          pool,
          (await claim()).map(({ event_id, lane_id, lease_id, cycle, key_id }) => ({
            ...{ event_id, lane_id, lease_id, cycle, key_id, started_at, n: 1, retry_delay_seconds: null },
            ...{ ...outcome, pace: 'quick' },
          })),
          laneCircuitPolicy,
        );
      },
    },
    { name: 'deliveries of a payment', run: (n) => queries.deliveriesOf(pick(n).merchant_id, pick(n).payment_id) },
    { name: 'backlog', run: () => readBacklog(pool, { longest: 5 }) },
    { name: 'lanes of a merchant', run: (n) => readWaitingLanes(pool, { lanes: lanesOf(pick(n).merchant_id) }) },
    { name: 'failed events', run: () => queries.failedEvents({ merchantId: null, after: null }) },
    { name: 'give up', run: () => giveUpDeliveries(pool, 86_400) },
    { name: 'event that nobody has', run: () => queries.deliveriesOf(newId('mer'), `pay_${randomUUID()}`) },
  ];
}

async function sampleOf(adminUrl: string): Promise<{ merchant_id: string; payment_id: string }[]> {
  return withDatabase(adminUrl, async (db) => {
    const { rows } = await db.query<{ merchant_id: string; payment_id: string }>(
      'select merchant_id, payment_id from webhooks.event order by random() limit $1',
      [SAMPLE],
    );
    return rows;
  });
}
