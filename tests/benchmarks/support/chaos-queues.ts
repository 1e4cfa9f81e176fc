import { Redis } from 'ioredis';
import { newId } from '@quittance/contracts/ids.ts';
import { addressOf, createDatabase } from '@quittance/postgres/roles/service-databases.ts';
import type { Contender, Store, Surroundings } from './chaos-contender.ts';
import { postgresStore } from './chaos-postgres.ts';
import { startWorkers } from './chaos-workers.ts';
import { openJobQueue, type QueueKind } from './job-queues.ts';
import { bodyOf } from './webhook-merchants.ts';

/** More than a cell ever has. */
const MOST_LEFT = 1_000_000;

/** Two processes that send webhooks from a job queue, with its documented settings. A job is done when the receiver answers its POST. */
const contender = (kind: QueueKind): Contender => ({
  name: kind,
  async open(surroundings) {
    const { receiver, merchants, onEnd } = surroundings;
    const { address, store } = await openStore(kind, surroundings);
    const queue = await openJobQueue[kind](address, () => undefined);
    onEnd(() => queue.close());
    const { port, authorityFile } = receiver;
    const order = { kind, address, merchants, receiver: { port, authorityFile } };
    let added = 0;
    return {
      add: (ids) =>
        queue.add(
          ids.map((eventId) => {
            const merchant = (added += 1) % merchants.length;
            return { merchant, eventId, body: bodyOf(eventId, newId('pay')) };
          }),
        ),
      done: () => receiver.ask('answered'),
      left: () => queue.left(MOST_LEFT),
      killWorker: await startWorkers(order, surroundings),
      store,
    };
  },
});

async function openStore(kind: QueueKind, surroundings: Surroundings): Promise<{ address: string; store: Store }> {
  const { backends, redis, name } = surroundings;
  if (kind === 'BullMQ') {
    if (redis === null) throw new Error('there is no Redis');
    await inRedis(redis.url, (client) => client.flushall());
    return { address: redis.url, store: redisStore(redis) };
  }
  await createDatabase(backends.adminUrl, name);
  const address = addressOf(backends.adminUrl, { database: name });
  return { address, store: postgresStore(backends, address) };
}

const redisStore = ({ url, restart }: NonNullable<Surroundings['redis']>): Store => ({
  ...restart,
  async cut() {
    await inRedis(url, (client) => client.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes'));
  },
  holdSnapshot: null,
});

async function inRedis<T>(url: string, run: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url);
  try {
    return await run(client);
  } finally {
    client.disconnect();
  }
}

export const otherContenders: readonly Contender[] = (['graphile-worker', 'pg-boss', 'BullMQ'] as const).map(contender);
