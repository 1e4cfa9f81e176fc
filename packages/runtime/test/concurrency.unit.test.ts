import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { backoffMs, pause } from '../src/concurrency/backoff.ts';
import { createCaller, currentCaller, jointCaller, withCaller } from '../src/concurrency/caller.ts';
import { withTimeout } from '../src/concurrency/deadline.ts';
import { createKeyedQueue, type KeyedQueue } from '../src/concurrency/keyed-queue.ts';
import { createMicroBatcher } from '../src/concurrency/micro-batch.ts';
import { Overloaded } from '../src/concurrency/overloaded.ts';
import { createSemaphore } from '../src/concurrency/semaphore.ts';

test('a semaphore runs as many at once as it has permits, and the others follow in order', async () => {
  const semaphore = createSemaphore(2);
  const started: number[] = [];
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<null>());
  const runs = gates.map(({ promise }, index) =>
    semaphore(async () => {
      started.push(index);
      await promise;
      if (index === 1) throw new Error('failed');
      return index;
    }),
  );
  const settled = Promise.allSettled(runs);
  expect(started).toEqual([0, 1]);
  gates[1]?.resolve(null);
  await expect(runs[1]).rejects.toThrow('failed');
  expect(started).toEqual([0, 1, 2]);
  gates.forEach(({ resolve }) => resolve(null));
  expect((await settled).map((run) => run.status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ]);
  expect(started).toEqual([0, 1, 2, 3, 4]);
});

describe('a keyed queue', () => {
  /** Starts work that lasts until it is released. */
  function workOn(queue: KeyedQueue) {
    const started: string[] = [];
    const gates = new Map<string, () => void>();
    const start = (key: string, name: string) =>
      queue(key, async () => {
        started.push(name);
        await new Promise<void>((resolve) => gates.set(name, resolve));
        return name;
      });
    return { started, start, release: (name: string) => gates.get(name)?.() };
  }

  test('limits how much of one key runs at once, keeps the order, and never makes another key wait', async () => {
    const { started, start, release } = workOn(createKeyedQueue({ perKey: 2 }));
    const busy = ['a', 'b', 'c', 'd'].map((name) => start('busy', name));
    const other = start('other', 'x');
    expect(started).toEqual(['a', 'b', 'x']);
    release('b');
    await busy[1];
    expect(started).toEqual(['a', 'b', 'x', 'c']);
    for (const name of ['a', 'c', 'x']) release(name);
    await Promise.all([busy[0], busy[2], other]);
    release('d');
    expect(await busy[3]).toBe('d');
  });

  test('continues after work that fails, and refuses work when too many wait', async () => {
    const queue = createKeyedQueue({ perKey: 1, maxWaiting: 1 });
    const failing = queue('key', () => Promise.reject(new Error('failed')));
    const next = queue('key', () => Promise.resolve('next'));
    await expect(queue('key', () => Promise.resolve('one too many'))).rejects.toThrow(Overloaded);
    await expect(failing).rejects.toThrow('failed');
    expect(await next).toBe('next');
    expect(await queue('key', () => Promise.resolve('later'))).toBe('later');
  });

  test('does not run work whose caller no longer waits', async () => {
    const { started, start, release } = workOn(createKeyedQueue({ perKey: 1 }));
    const first = start('key', 'first');
    const hangUp = new AbortController();
    const waitsNoLonger = [
      withCaller(createCaller(60_000, hangUp.signal), () => start('key', 'hung up')),
      withCaller(createCaller(1, new AbortController().signal), () => start('key', 'timed out')),
    ];
    const last = start('key', 'last');
    hangUp.abort();
    for (const { status } of await Promise.allSettled(waitsNoLonger)) expect(status).toBe('rejected');
    release('first');
    await first;
    release('last');
    await last;
    expect(started).toEqual(['first', 'last']);
  });
});

test('a micro-batch has the items of one turn of the event loop, or those that arrived during the previous batch, up to its size', async () => {
  const batches: (readonly number[])[] = [];
  const add = createMicroBatcher({
    maxSize: 3,
    run: async (batch: readonly number[]) => {
      batches.push(batch);
      if (batches.length === 1) later = [3, 4, 5, 6].map(add);
      return batch.map((item) => 10 * item);
    },
  });
  let later: Promise<number>[] = [];
  expect(await Promise.all([add(1), add(2)])).toEqual([10, 20]);
  expect(await Promise.all(later)).toEqual([30, 40, 50, 60]);
  expect(batches).toEqual([[1, 2], [3, 4, 5], [6]]);
  expect(await add(7)).toBe(70);
  expect(batches[3]).toEqual([7]);
});

test('items that arrive while a micro-batcher rests form one batch, and after a full batch it does not rest', async () => {
  const batches: (readonly number[])[] = [];
  let wakeUp = Promise.withResolvers<undefined>();
  const add = createMicroBatcher({
    maxSize: 2,
    rest: () => wakeUp.promise,
    run: async (batch: readonly number[]) => {
      batches.push(batch);
      return batch;
    },
  });
  expect(await Promise.all([1, 2, 3].map(add))).toEqual([1, 2, 3]);
  const fourth = add(4);
  await turns();
  const fifth = add(5);
  await turns();
  expect(batches).toEqual([[1, 2], [3]]);
  wakeUp.resolve(undefined);
  expect(await Promise.all([fourth, fifth])).toEqual([4, 5]);
  // The last batch was full.
  wakeUp = Promise.withResolvers();
  expect(await add(6)).toBe(6);
  expect(batches).toEqual([[1, 2], [3], [4, 5], [6]]);
  wakeUp.resolve(undefined);
});

/** Longer than a run without a rest takes. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('a failed run rejects only its own items, and a pending result delays no other', async () => {
  const slow = Promise.withResolvers<string>();
  const add = createMicroBatcher({
    maxSize: 2,
    run: async (batch: readonly string[]) => {
      if (batch.includes('bad')) throw new Error('no database');
      return batch.map((item) => (item === 'slow' ? slow.promise : item));
    },
  });
  const [bad, beside, late, prompt] = ['bad', 'beside', 'slow', 'prompt'].map((item) => add(item));
  await expect(bad).rejects.toThrow('no database');
  await expect(beside).rejects.toThrow('no database');
  expect(await prompt).toBe('prompt');
  slow.resolve('late');
  expect(await late).toBe('late');
});

const backoff = { firstMs: 100, maxMs: 5_000 };

test('the backoff doubles with each failure up to its limit, and is between half and all of it', () => {
  const longest = [0, 1, 2, 5, 6, 1000].map((attempt) => backoffMs(attempt, backoff, () => 1));
  expect(longest).toEqual([100, 200, 400, 3200, 5000, 5000]);
  expect(backoffMs(1, backoff, () => 0)).toBe(100);
});

test('a pause ends when its signal aborts, and does not throw', async () => {
  const stopping = new AbortController();
  const paused = pause(3_600_000, stopping.signal);
  stopping.abort();
  await paused;
  await pause(3_600_000, stopping.signal);
});

test('withTimeout returns the value, passes the error on, and throws when the work takes too long', async () => {
  expect(await withTimeout(1_000, Promise.resolve(7))).toBe(7);
  await expect(withTimeout(1_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  await expect(withTimeout(1, new Promise(() => undefined), 'This')).rejects.toThrow('This took longer than 1 ms');
});

test('withTimeout returns what arrived while the process was frozen, however long that was', async () => {
  const { port1, port2 } = new MessageChannel();
  const arrival = once(port2, 'message');
  const { promise: outcome, resolve, reject } = Promise.withResolvers<string>();
  // After this phase of the event loop timers run first, and what has arrived is read after them.
  setImmediate(() => {
    withTimeout(
      1,
      arrival.then(() => 'in time'),
    ).then(resolve, reject);
    port1.postMessage('done');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120);
  });
  expect(await outcome).toBe('in time');
  port1.close();
});

test('a commit is allowed while there is time for the response, and its outcome is awaited beyond that', () => {
  const signal = new AbortController().signal;
  const reserve = (timeoutMs: number) => {
    const caller = createCaller(timeoutMs, signal);
    return Math.round(caller.remainingMs() - caller.commitWithinMs());
  };
  expect([5_000, 1_000, 200].map(reserve)).toEqual([1_000, 300, 100]);
  const callers = [createCaller(0, signal), createCaller(0, signal)];
  const joint = jointCaller(callers)!;
  expect([joint.remainingMs() <= 0, joint.awaitsCommit()]).toEqual([true, false]);
  joint.announceCommit();
  expect([joint.awaitsCommit(), ...callers.map((caller) => caller.awaitsCommit())]).toEqual([true, true, true]);
  expect(joint.remainingMs()).toBeGreaterThan(1_000);
  expect(joint.commitWithinMs()).toBeLessThanOrEqual(0);
});

test('a micro-batch belongs to none of the callers whose items are in it', async () => {
  const callers: unknown[] = [];
  const add = createMicroBatcher({
    maxSize: 3,
    run: async (batch: readonly number[]) => {
      callers.push(currentCaller());
      return batch;
    },
  });
  const caller = createCaller(1_000, new AbortController().signal);
  await withCaller(caller, () => add(1));
  expect(callers).toEqual([null]);
  expect(withCaller(caller, currentCaller)).toBe(caller);
});
