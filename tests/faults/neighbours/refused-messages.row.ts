import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@quittance/contracts/ids.ts';
import { WebhookConfigured } from '@quittance/contracts/messages.ts';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { startConsumers } from '@quittance/messaging/consumer/consumer.ts';
import { on } from '@quittance/messaging/consumer/handler.ts';
import { createOutbox } from '@quittance/messaging/outbox/outbox.ts';
import { messagingMigrations } from '@quittance/messaging/schema/service-schema.ts';
import { createPool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { testBroker } from '@quittance/testkit/broker.ts';
import { testDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';
import { latenciesOf } from '../../benchmarks/support/latencies.ts';
import type { FaultContext } from '../fault.ts';
import type { Row } from './row.ts';

const REFUSED = 1_500;
/** Messages with other names, one after the other. */
const OTHERS = 200;
const EVERY_MS = 50;
/** How much longer the others' p99 may be with the noise, with some allowance for a busy machine. */
const MOST_TIMES = 1.5;
const MOST_MORE_MS = 250;

export const row: Row = {
  name: 'refused-messages',
  about:
    '1,500 (or --runs) PaymentCreated that the queue of quota refuses: messages of other names leave the outbox as before, and ' +
    "chain-watcher's queue gets one copy of each in each pause",
  before: 'PaymentPaid was not sent in 60 s, and 122,334 copies went into the healthy queue',
  async run({ runs, onEnd }) {
    const service = await openService(onEnd);
    await service.sendOthers(20);
    const without = latenciesOf(await service.sendOthers(OTHERS));
    await service.refuseByQuota(runs ?? REFUSED);
    const beside = latenciesOf(await service.sendOthers(OTHERS));
    const { copies, attempts, refused } = await service.counts();
    const broken: string[] = [];
    if (refused === 0) broken.push('no message was refused');
    if (beside.p99 > Math.max(MOST_TIMES * without.p99, without.p99 + MOST_MORE_MS))
      broken.push(`the p99 of other messages went from ${without.p99.toFixed(1)} to ${beside.p99.toFixed(1)} ms`);
    if (copies > attempts + (runs ?? REFUSED))
      broken.push(`${copies} messages are in the healthy queue after ${attempts} attempts`);
    return {
      broken,
      measured: [
        `other messages p99 ${without.p99.toFixed(1)} ms without, ${beside.p99.toFixed(1)} ms with ${refused} that are refused; ` +
          `${copies} messages in the healthy queue after ${attempts} attempts`,
      ],
    };
  },
};

async function openService(onEnd: FaultContext['onEnd']) {
  const schema = 'payments';
  const database = await testDatabase({ schema, migrations: [messagingMigrations] });
  onEnd(() => database.drop());
  const rabbit = await testBroker();
  onEnd(() => rabbit.close());
  const common = { logger: testLogger, metrics: testMetrics };
  const pool = createPool({ url: database.url, schema, max: 10, logger: testLogger, applicationName: 'neighbours' });
  onEnd(() => pool.end());
  const broker = connectBroker({ ...common, url: rabbit.url, name: 'neighbours' });
  onEnd(() => broker.close());
  const outbox = createOutbox({ ...common, pool, broker, signer: null });
  onEnd(() => outbox.close());
  const arrivals = new Map<string, number>();
  const handler = on(WebhookConfigured, 'webhook-configured', ({ merchant_id: id }) => {
    arrivals.set(id, performance.now());
    return Promise.resolve();
  });
  const consumers = startConsumers({
    ...common,
    pool,
    broker,
    service: 'payments',
    handlers: [handler],
    trust: sharedTrust(),
  });
  onEnd(() => consumers.close());
  const count = async (text: string) => Number((await pool.query<{ count: string }>(text)).rows[0]!.count);
  return {
    /** @returns the time from writing to arrival of each, in milliseconds. */
    async sendOthers(many: number): Promise<number[]> {
      const sent = new Map<string, number>();
      while (sent.size < many) {
        const id = newId('mer');
        sent.set(id, performance.now());
        const payload = { merchant_id: id, configured_at: new Date().toISOString() };
        await transaction(pool, (tx) => outbox.send(tx, WebhookConfigured, payload));
        await delay(EVERY_MS);
      }
      await eventually(() => {
        const missing = [...sent.keys()].filter((id) => !arrivals.has(id)).length;
        if (missing > 0) throw new Error(`${missing} of ${many} messages have not arrived`);
      });
      return Array.from(sent, ([id, at]) => arrivals.get(id)! - at);
    },
    async refuseByQuota(many: number): Promise<void> {
      const definition = { 'max-length': 1 };
      const policy = { pattern: '^quota[.]payment-created$', 'apply-to': 'queues', definition };
      await rabbit.manage('PUT', `/api/policies/${rabbit.vhost}/refuse`, policy);
      await pool.query(
        `insert into outbox (message_id, name, version, merchant_id, body, request_id)
         select gen_random_uuid(), 'PaymentCreated', 1, 'm', '{}', 'r' from generate_series(1, $1)`,
        [many],
      );
    },
    async counts(): Promise<{ copies: number; attempts: number; refused: number }> {
      const refused = await count('select count(*) from outbox where refusals > 0');
      await outbox.close();
      const queue = (await rabbit.manage('GET', `/api/queues/${rabbit.vhost}/chain-watcher.payment-created`)) as {
        messages: number;
      };
      return {
        refused,
        copies: queue.messages,
        attempts: await count(
          `select (select count(*) from sent_message where name = 'PaymentCreated') + (select coalesce(sum(refusals), 0) from outbox) as count`,
        ),
      };
    },
  };
}
