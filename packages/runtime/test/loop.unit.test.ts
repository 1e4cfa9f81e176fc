import { describe, expect, test } from '@jest/globals';

import { createLogger } from '../src/logger.ts';
import { startLoop } from '../src/loop.ts';
import { createMetrics } from '../src/metrics.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
const metrics = createMetrics({ service: 'test', processMetrics: false });
const common = { name: 'sweep', logger, metrics };
const NEVER_MS = 2_000_000_000;

/** Counts runs; `reached(n)` resolves at the n-th. */
function counter() {
  const waiting = new Map<number, () => void>();
  let runs = 0;
  return {
    count: () => runs,
    add: () => {
      runs += 1;
      waiting.get(runs)?.();
    },
    reached: (target: number) =>
      runs >= target ? Promise.resolve() : new Promise<void>((resolve) => void waiting.set(target, resolve)),
  };
}

describe('a loop', () => {
  test('runs immediately, and again without a pause while there is more', async () => {
    const runs = counter();
    const loop = startLoop({
      ...common,
      intervalMs: NEVER_MS,
      run: async () => {
        runs.add();
        return { more: runs.count() < 5 };
      },
    });
    await runs.reached(5);
    await loop.close();
    expect(runs.count()).toBe(5);
  });

  test('never overlaps itself, and a wake during a run causes exactly one more', async () => {
    const runs = counter();
    let running = 0;
    let most = 0;
    const loop = startLoop({
      ...common,
      intervalMs: NEVER_MS,
      run: async () => {
        running += 1;
        most = Math.max(most, running);
        runs.add();
        if (runs.count() === 1) for (let i = 0; i < 10; i += 1) loop.wake();
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return { more: false };
      },
    });
    await runs.reached(2);
    await loop.close();
    expect(most).toBe(1);
    expect(runs.count()).toBe(2);
  });

  test('rests as long as a run says, however often it is woken, and can be closed during the rest', async () => {
    const runs = counter();
    const loop = startLoop({
      ...common,
      intervalMs: NEVER_MS,
      run: async () => {
        runs.add();
        return { more: true, restMs: runs.count() < 2 ? 1 : NEVER_MS };
      },
    });
    await runs.reached(2);
    for (let turn = 0; turn < 10; turn += 1) {
      loop.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await loop.close();
    expect(runs.count()).toBe(2);
  });

  test('a wake ends the pause', async () => {
    const runs = counter();
    const loop = startLoop({
      ...common,
      intervalMs: NEVER_MS,
      run: async () => {
        runs.add();
        // Woken after the pause has begun.
        if (runs.count() === 1) setTimeout(() => loop.wake(), 5);
        return { more: false };
      },
    });
    await runs.reached(2);
    await loop.close();
  });

  test('survives errors and runs again', async () => {
    const runs = counter();
    const loop = startLoop({
      ...common,
      intervalMs: 1,
      run: async () => {
        runs.add();
        if (runs.count() < 3) throw new Error('backend is away');
        return { more: false };
      },
    });
    await runs.reached(4);
    await loop.close();
  });

  test('runs again soon after an error, even with a long interval', async () => {
    const runs = counter();
    const loop = startLoop({
      ...common,
      intervalMs: NEVER_MS,
      run: async () => {
        runs.add();
        if (runs.count() === 1) throw new Error('backend was away for a moment');
        return { more: false };
      },
    });
    await runs.reached(2);
    await loop.close();
  });

  test('closing aborts the current run and waits for its end', async () => {
    const started = counter();
    let ended = false;
    const loop = startLoop({
      ...common,
      intervalMs: 1,
      run: async (signal) => {
        started.add();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await new Promise((resolve) => setImmediate(resolve));
        ended = true;
        throw new Error('aborted');
      },
    });
    await started.reached(1);
    await loop.close();
    expect(ended).toBe(true);
    expect(started.count()).toBe(1);
  });
});
