import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AccessChanged } from '@quittance/contracts/messages.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { on } from '../src/consumer/handler.ts';
import { useOwnNode } from './own-node.ts';
import {
  connected,
  effects,
  mayBeIdle,
  outboxSize,
  publishRaw,
  QUEUE,
  queueSize,
  recording,
  results,
} from './world.ts';
import {
  affectedMerchants,
  countingArrivals,
  recordingBatches,
  sendMessage,
  startWorld,
  type World,
  webhookConfigured,
} from './world.ts';

// What a whole RabbitMQ does when it is short of something, on one that is ours alone.

const { control } = useOwnNode();
let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const access: AccessChanged = {
  ...{ merchant_id: webhookConfigured().merchant_id, policy_version: 1, access_type: 'legacy', account_active: true },
  ...{ creation_paused: false, beta_duration_days: null, beta_started_at: null, beta_expires_at: null },
  ...{ total_limit: 1, daily_limit: null, package_number: 1, changed_at: new Date().toISOString() },
};

const OTHER = 'payments.access-changed';

/** The series of a metric, by the label that tells them apart. */
async function gauge(name: string, label: string): Promise<Record<string, number>> {
  const { values = [] } = (await world.metrics.registry.getSingleMetric(name)?.get()) ?? {};
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels[label]), value]));
}

const refusals = async (): Promise<number> => {
  const { rows } = await world.pool.query<{ most: number }>(
    'select coalesce(max(refusals), 0)::int as most from outbox',
  );
  return rows[0]!.most;
};

test('the messages of a queue without a leader wait, everything else goes on, and all are delivered once it has one', async () => {
  const outbox = world.outbox();
  const sent = [await sendMessage(world, outbox)];
  await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(1));
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
  const other = countingArrivals(
    on(AccessChanged, 'access-changed', async (_message, context) => {
      await mayBeIdle(context);
      await released;
    }),
  );
  const member = `quorum_queues, {'${new URL(world.brokerUrl).pathname.slice(1)}_${QUEUE}', node()}`;
  await control('eval', `ra:stop_server(${member}).`);
  try {
    world.consume([recording(), other.handler]);
    await transaction(world.pool, (tx) => outbox.send(tx, AccessChanged, access));
    await other.haveCome(1);
    sent.push(await sendMessage(world, outbox), await sendMessage(world, outbox));
    // The publisher gives up a confirm after 15 s. Until then the consumer has tried to subscribe several times.
    await eventually(async () => expect(await refusals()).toBeGreaterThan(0));
    expect(await outboxSize(world)).toBe(2);
    await eventually(async () =>
      expect(await gauge('messaging_queue_consumers', 'queue')).toEqual({ [QUEUE]: 0, [OTHER]: 1 }),
    );
    expect(await gauge('messaging_broker_connected', 'purpose')).toMatchObject({ publish: 1 });
    release(undefined);
    await eventually(async () => expect((await results(world))['done']).toBe(1));
  } finally {
    await control('eval', `ra:restart_server(${member}).`);
  }
  await eventually(async () => expect((await effects(world)).sort()).toEqual(sent.sort()));
  await eventually(async () => expect(await outboxSize(world)).toBe(0));
  // Its message was delivered once: it never returned to its queue.
  await other.haveCome(1);
});

const FREE = '50MB';
describe.each([
  ['memory', ['set_vm_memory_high_watermark', '0'], ['set_vm_memory_high_watermark', '0.4']],
  ['disk', ['set_disk_free_limit', '1000000GB'], ['set_disk_free_limit', FREE]],
] as const)('while RabbitMQ is short of %s', (_what, raise, clear) => {
  test('messages wait in the outbox, consumers go on, the metrics say it, and all are delivered afterwards', async () => {
    const outbox = world.outbox();
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    const begun: string[] = [];
    const handler = recording(async (context) => {
      begun.push(context.messageId);
      await mayBeIdle(context);
      await released;
    });
    world.consume([handler]);
    const sent = [await sendMessage(world, outbox)];
    await eventually(() => expect(begun).toEqual(sent));
    try {
      await control(...raise);
      for (let count = 0; count < 3; count += 1) sent.push(await sendMessage(world, outbox));
      await eventually(async () =>
        expect(await gauge('messaging_broker_connected', 'purpose')).toEqual({ publish: 0, consume: 1 }),
      );
      // A message that was delivered before is handled and acknowledged.
      release(undefined);
      await eventually(async () => expect(await effects(world)).toEqual(sent.slice(0, 1)));
      expect(await outboxSize(world)).toBe(3);
    } finally {
      await control(...clear);
    }
    await eventually(async () => expect((await effects(world)).sort()).toEqual([...sent].sort()));
    await eventually(async () => expect(await outboxSize(world)).toBe(0));
    await connected(world.broker);
    expect(await gauge('messaging_broker_connected', 'purpose')).toEqual({ publish: 1, consume: 1 });
  });
});

describe('when a handler takes longer than RabbitMQ waits for an acknowledgement', () => {
  const limits = (timeoutMs: number, tickMs: number): string =>
    `application:set_env(rabbit, consumer_timeout, ${timeoutMs}), application:set_env(rabbit, channel_tick_interval, ${tickMs}).`;
  // The defaults.
  afterEach(() => control('eval', limits(1_800_000, 60_000)));

  test('the consumer comes back, the log has the reason, and each message takes effect once', async () => {
    // A channel reads both when it opens.
    await control('eval', limits(1_000, 200));
    const lines: string[] = [];
    const logger = createLogger({ service: 'test', level: 'warn' }, { write: (line) => void lines.push(line) });
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    const handler = recordingBatches(async (_merchants, context) => {
      await mayBeIdle(context);
      await released;
    });
    world.consume([handler], { logger });
    const bodies = Array.from({ length: 5 }, webhookConfigured);
    for (const body of bodies) await publishRaw(world, JSON.stringify(body));
    await eventually(() => {
      const closed = lines.find((line) => line.includes('A channel to RabbitMQ closed; opening it again')) ?? '';
      expect(closed).toContain(QUEUE);
      expect(closed).toMatch(/PRECONDITION.FAILED.*delivery acknowledgement on channel \d+ timed out/);
    });
    release(undefined);
    const merchants = bodies.map(({ merchant_id: id }) => id).sort();
    await eventually(async () => expect((await affectedMerchants(world)).sort()).toEqual(merchants));
    const next = webhookConfigured();
    await publishRaw(world, JSON.stringify(next));
    await eventually(async () =>
      expect((await affectedMerchants(world)).sort()).toEqual([...merchants, next.merchant_id].sort()),
    );
    await world.channel.checkQueue(QUEUE);
  });
});
