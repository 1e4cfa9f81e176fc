import { newId } from '@quittance/contracts/ids.ts';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { composeMessage } from '@quittance/messaging/outbox/outbox.ts';
import { insertMessages } from '@quittance/messaging/outbox/store.ts';
import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { serviceSchemas } from '@quittance/postgres/roles/service-databases.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { insertEvents } from '../../../services/webhook-dispatcher/src/events/event.sql.ts';
import { withDatabase } from '../../support/database.ts';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.ts';
import type { Contender, Done, Surroundings } from './chaos-contender.ts';
import { jobOf, messageOf } from './chaos-messages.ts';
import { countIn, postgresStore } from './chaos-postgres.ts';
import { startWorkers } from './chaos-workers.ts';
import { machineMs } from './machine-clock.ts';
import { connectPublisher, consumeTransfers, publishTransfers } from './transfers.ts';
import { startDispatcherProcess } from './webhook-dispatcher.ts';
import { bodyOf, insertMerchants } from './webhook-merchants.ts';

const openDatabase = (
  { backends, name }: Surroundings,
  service: 'webhook-dispatcher' | 'chain-watcher' | 'payments',
): Promise<ServiceDatabase> =>
  serviceDatabase({ service, adminUrl: backends.adminUrl, database: name, password: 'only for a benchmark' });

/** Connections of the process that adds jobs, which is none of the workers: it must not die with them. */
function openPool(url: string, service: keyof typeof serviceSchemas, { onEnd }: Surroundings): Pool {
  const { schema } = serviceSchemas[service];
  const pool = createPool({ url, schema, max: 20, applicationName: 'benchmark', logger: testLogger });
  onEnd(() => pool.end());
  return pool;
}

/** Two processes of webhook-dispatcher. A job is an event, and done when the receiver answers its POST. */
const dispatcher: Contender = {
  name: 'dispatcher',
  async open(surroundings) {
    const { backends, directory, name, receiver, merchants, onEnd } = surroundings;
    const { adminUrl, url } = await openDatabase(surroundings, 'webhook-dispatcher');
    await withDatabase(adminUrl, async (db) => {
      await db.query('set search_path = webhooks');
      await insertMerchants(db, merchants);
    });
    const amqpUrl = await backends.broker.addVirtualHost(name);
    const start = async (folder: string) => {
      const started = await startDispatcherProcess({ directory, folder, receiver, databaseUrl: url, amqpUrl });
      onEnd(() => started.stop());
      return started;
    };
    const workers = [await start('worker-1'), await start('worker-2')];
    const pool = openPool(url, 'webhook-dispatcher', surroundings);
    let added = 0;
    return {
      async add(ids) {
        const events = ids.map((eventId) => {
          const paymentId = newId('pay');
          const { merchantId } = merchants[(added += 1) % merchants.length]!;
          return { eventId, paymentId, merchantId, body: Buffer.from(bodyOf(eventId, paymentId)) };
        });
        await transaction(pool, (tx) => insertEvents(tx, events));
      },
      done: () => receiver.ask('answered'),
      left: () =>
        countIn(adminUrl, `select count(*)::integer as count from webhooks.delivery where status = 'pending'`),
      killWorker: async (nth) => workers[nth % workers.length]?.kill(),
      store: postgresStore(backends, adminUrl),
    };
  },
};

/** Two processes with a relay. A job is a message in the outbox, and done when it arrives in its queue. */
const relay: Contender = {
  name: 'relay',
  async open(surroundings) {
    const { backends, name, onEnd } = surroundings;
    const { adminUrl, url } = await openDatabase(surroundings, 'chain-watcher');
    const amqpUrl = await backends.broker.addVirtualHost(name);
    const first = new Map<string, number>();
    let repeated = 0;
    const killWorker = await startWorkers({ kind: 'relay', databaseUrl: url, amqpUrl }, surroundings);
    const broker = await consumeTransfers(amqpUrl, (transfer) => {
      const id = jobOf(transfer);
      if (first.has(id)) repeated += 1;
      else first.set(id, machineMs());
    });
    onEnd(() => broker.close());
    const pool = openPool(url, 'chain-watcher', surroundings);
    return {
      add: (ids) =>
        transaction(pool, (tx) =>
          insertMessages(
            tx,
            ids.map((id) => composeMessage(TransferObserved, messageOf(id))),
          ),
        ),
      done: async () => ({ first, repeated }),
      left: () => countIn(adminUrl, 'select count(*)::integer as count from chain.outbox'),
      killWorker,
      store: postgresStore(backends, adminUrl),
    };
  },
};

/** Two processes with a consumer. A job is a message in RabbitMQ, and done when its effect is committed. */
const inbox: Contender = {
  name: 'inbox',
  async open(surroundings) {
    const { backends, name, onEnd } = surroundings;
    const { adminUrl, url } = await openDatabase(surroundings, 'payments');
    const { schema, role } = serviceSchemas.payments;
    await withDatabase(adminUrl, (db) =>
      db.query(
        `create table ${schema}.effect (id text not null, at timestamptz not null default clock_timestamp());
         grant insert on ${schema}.effect to ${role}`,
      ),
    );
    const amqpUrl = await backends.broker.addVirtualHost(name);
    const killWorker = await startWorkers({ kind: 'inbox', databaseUrl: url, amqpUrl }, surroundings);
    const broker = await connectPublisher(amqpUrl);
    onEnd(() => broker.close());
    let published = 0;
    return {
      async add(ids) {
        await publishTransfers(broker, ids.map(messageOf));
        published += ids.length;
      },
      done: () => effects(adminUrl),
      left: async () => Math.max(0, published - (await effects(adminUrl)).first.size),
      killWorker,
      store: postgresStore(backends, adminUrl),
    };
  },
};

const effects = (adminUrl: string): Promise<Done> =>
  withDatabase(adminUrl, async (db) => {
    const { rows } = await db.query<{ id: string; ms: number; times: number }>(
      `select id, extract(epoch from min(at))::float8 * 1000 as ms, count(*)::integer as times
         from payments.effect group by id`,
    );
    const offset = machineMs() - Date.now();
    return {
      first: new Map(rows.map(({ id, ms }) => [id, ms + offset])),
      repeated: rows.reduce((sum, { times }) => sum + times - 1, 0),
    };
  });

export const ourContenders: readonly Contender[] = [dispatcher, relay, inbox];
