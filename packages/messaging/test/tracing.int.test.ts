import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { WebhookConfigured } from '@quittance/contracts/messages.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { currentSpan, inSpan, type Span, tracer } from '@quittance/runtime/tracing/tracing.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { recordSpans } from '@quittance/testkit/spans.ts';
import { listDeadLetters, redriveDeadLetters } from '../src/dead-letter/dead-letter.ts';
import { PermanentError, onBatch } from '../src/consumer/handler.ts';
import type { Outbox } from '../src/outbox/outbox.ts';
import {
  QUEUE,
  countingArrivals,
  effects,
  mayBeIdle,
  outboxSize,
  queueSize,
  recording,
  results,
  sendMessage,
  startWorld,
  webhookConfigured,
  type World,
} from './world.ts';

// Longer than any wait inside a test, so that a failure shows the wait's own error.
const SEND = 'send quittance:WebhookConfigured';
const PROCESS = 'process quittance:WebhookConfigured:payments.webhook-configured';

let world: World;
let spans: ReturnType<typeof recordSpans>;
beforeEach(async () => {
  world = await startWorld();
  spans = recordSpans();
});
afterEach(async () => {
  await world.close();
  spans.stop();
});

/** Sends a message as a request would. @returns the request's span. */
async function sayIn(name: string, outbox: Outbox, options: { messageId?: string } = {}): Promise<Span> {
  const span = tracer()!.start(name, 'server', { origin: { parent: null } });
  await inSpan(span, () => sendMessage(world, outbox, options.messageId ?? randomUUID()));
  span.end();
  return span;
}

const idOf = (span: Span): string => span.traceparent.slice(36, 52);
const unsampled = (): string => `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00`;
const lines = (values: (string | undefined)[]) => values.map((value) => value?.slice(36, 52));

describe('the trace of a message', () => {
  test('continues through the outbox and RabbitMQ to every consumer, and on from there', async () => {
    const inHandler: (string | undefined)[] = [];
    const outbox = world.outbox();
    world.consume([recording(() => void inHandler.push(currentSpan()?.traceparent))]);
    const messageId = randomUUID();
    const request = await sayIn('request', outbox, { messageId });

    const [processing] = await spans.named(PROCESS);
    const [sending] = await spans.named(SEND);
    expect(sending).toMatchObject({
      kind: 'producer',
      parentSpanId: idOf(request),
      attributes: {
        'messaging.system': 'rabbitmq',
        'messaging.operation.type': 'send',
        'messaging.destination.name': 'quittance:WebhookConfigured',
        'messaging.message.id': messageId,
      },
    });
    expect(processing).toMatchObject({
      kind: 'consumer',
      traceId: sending!.traceId,
      parentSpanId: sending!.spanId,
      attributes: { 'messaging.message.id': messageId, 'quittance.messaging.result': 'done' },
    });
    expect(lines(inHandler)).toEqual([processing!.spanId]);
  });

  test('is that of a copy, too, sent by a relay that died before it could delete the message', async () => {
    const outbox = world.outbox();
    const messageId = randomUUID();
    // The state that such a kill leaves: the row is in the outbox, and the message in RabbitMQ already.
    const request = await sayIn('request', outbox, { messageId });
    await eventually(async () => expect(await outboxSize(world)).toBe(0));
    await inSpan(request, () => sendMessage(world, outbox, messageId));
    await eventually(async () => expect(await outboxSize(world)).toBe(0));

    world.consume([recording()]);
    const taken = await spans.named(PROCESS, 2);
    expect(await effects(world)).toEqual([messageId]);
    expect(taken.map(({ traceId }) => traceId)).toEqual([0, 1].map(() => request.traceparent.slice(3, 35)));
    expect(taken.map(({ attributes }) => attributes['quittance.messaging.result']).toSorted()).toEqual([
      'done',
      'duplicate',
    ]);
    expect((await spans.named(SEND, 2)).map(({ parentSpanId }) => parentSpanId)).toEqual(
      [0, 1].map(() => idOf(request)),
    );
  });

  test('continues when RabbitMQ redelivers a message whose consumer was lost before the acknowledgement', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<null>();
    let calls = 0;
    world.consume([
      recording(async (context) => {
        await mayBeIdle(context);
        calls += 1;
        await released;
      }),
    ]);
    const request = await sayIn('request', world.outbox());
    await eventually(() => expect(calls).toBe(1));
    // Otherwise the relay would send it again, too.
    await eventually(async () => expect(await outboxSize(world)).toBe(0));
    world.brokerProxy.cut();
    release(null);
    await eventually(async () => expect(await effects(world)).toHaveLength(1));
    world.brokerProxy.restore();
    const taken = await spans.named(PROCESS, 2);
    expect(taken.map(({ traceId }) => traceId)).toEqual([0, 1].map(() => request.traceparent.slice(3, 35)));
    expect(taken[1]!.attributes).toMatchObject({
      'quittance.messaging.result': 'duplicate',
      'quittance.messaging.redelivered': true,
    });
    expect(calls).toBe(1);
  });

  test('has every attempt of a handler that fails, and the dead letter that is redriven', async () => {
    let tries = 0;
    world.consume([
      recording(() => {
        tries += 1;
        if (tries === 1) throw new Error('not yet');
        if (tries === 2) throw new PermanentError('never');
      }),
    ]);
    const request = await sayIn('request', world.outbox());
    await eventually(async () => expect(await listDeadLetters(world.broker, { queue: QUEUE })).toHaveLength(1));
    await redriveDeadLetters(world.broker, { queue: QUEUE, author: { actor: 'olga', reason: 'mended' } });
    const taken = await spans.named(PROCESS, 3);
    expect(taken.map(({ traceId }) => traceId)).toEqual(taken.map(() => request.traceparent.slice(3, 35)));
    expect(taken.map(({ attributes }) => attributes['quittance.messaging.result'])).toEqual(['failed', 'dead', 'done']);
    expect(taken.map(({ attributes }) => attributes['error.type'])).toEqual(['Error', 'PermanentError', undefined]);
  });

  test('that is not sampled leaves no span, and is propagated', async () => {
    const inHandler: (string | undefined)[] = [];
    world.consume([recording(() => void inHandler.push(currentSpan()?.traceparent))]);
    const request = tracer()!.start('request', 'server', { origin: { parent: unsampled() } });
    await inSpan(request, () => sendMessage(world, world.outbox()));
    await eventually(async () => expect(await results(world)).toEqual({ done: 1 }));
    expect(inHandler).toEqual([unsampled()]);
    expect(spans.ended()).toEqual([]);
  });

  test('passes a process that does not trace', async () => {
    const request = tracer()!.start('request', 'server', { origin: { parent: null } });
    await inSpan(request, () => sendMessage(world, world.outbox({ broker: world.connect('amqp://127.0.0.1:1') })));
    spans.stop();
    world.outbox();
    await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(1));
    const letter = await world.channel.get(QUEUE, { noAck: true });
    expect(letter && letter.properties.headers).toMatchObject({ traceparent: request.traceparent });
  });
});

describe('a batch', () => {
  test('has a span for each message in the trace of that message, and is itself in none of them', async () => {
    const batches: { size: number; traceparents: readonly (string | null)[]; current: string | undefined }[] = [];
    const { promise: released, resolve: release } = Promise.withResolvers<null>();
    const recorded = onBatch(WebhookConfigured, 'webhook-configured', async (messages, { traceparents, tx }) => {
      await mayBeIdle({ tx });
      batches.push({ size: messages.length, traceparents, current: currentSpan()?.traceparent });
      if (batches.length === 1) await released;
    });
    const { handler, haveCome } = countingArrivals(recorded);
    const outbox = world.outbox();
    world.consume([handler]);
    const lone = await sayIn('lone', outbox);
    await eventually(() => expect(batches).toHaveLength(1));
    const requests = [await sayIn('one', outbox), await sayIn('two', outbox)];
    await haveCome(3);
    release(null);

    const [first, ...others] = await spans.named(PROCESS, 3);
    expect(first).toMatchObject({ traceId: lone.traceparent.slice(3, 35) });
    expect(lines([batches[0]!.current])).toEqual([first!.spanId]);
    expect(others.map(({ traceId }) => traceId)).toEqual(requests.map((request) => request.traceparent.slice(3, 35)));
    expect(others.map(({ attributes }) => attributes['messaging.batch.message_count'])).toEqual([2, 2]);
    expect(batches[1]).toMatchObject({ size: 2, current: undefined });
    expect(lines(batches[1]!.traceparents as string[])).toEqual(others.map(({ spanId }) => spanId));
  });

  test('that fails ends the spans of its messages, and each is tried again in its own trace', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<null>();
    let calls = 0;
    const recorded = onBatch(WebhookConfigured, 'webhook-configured', async (messages, { tx }) => {
      await mayBeIdle({ tx });
      calls += 1;
      if (calls === 1) await released;
      else if (messages.length > 1) throw new Error('one of them');
    });
    const { handler, haveCome } = countingArrivals(recorded);
    const outbox = world.outbox();
    world.consume([handler]);
    await sayIn('lone', outbox);
    await eventually(() => expect(calls).toBe(1));
    const requests = [await sayIn('one', outbox), await sayIn('two', outbox)];
    await haveCome(3);
    release(null);
    const taken = await spans.named(PROCESS, 5);
    for (const request of requests) {
      const own = taken.filter(({ traceId }) => traceId === request.traceparent.slice(3, 35));
      expect(own.map(({ attributes }) => attributes['quittance.messaging.result'])).toEqual(['failed', 'done']);
    }
  });

  test('of messages sent together keeps the trace of each', async () => {
    const outbox = world.outbox();
    const [one, two] = ['one', 'two'].map((name) => tracer()!.start(name, 'internal', { origin: { parent: null } }));
    await transaction(world.pool, (tx) =>
      outbox.sendAll(tx, WebhookConfigured, [
        { payload: webhookConfigured(), traceparent: one!.traceparent },
        { payload: webhookConfigured() },
        { payload: webhookConfigured(), traceparent: two!.traceparent },
      ]),
    );
    const sent = await spans.named(SEND, 2);
    expect(sent.map(({ parentSpanId }) => parentSpanId)).toEqual([idOf(one!), idOf(two!)]);
    await eventually(async () => expect(await queueSize(world, QUEUE)).toBe(3));
    expect(spans.ended()).toHaveLength(2);
  });
});
