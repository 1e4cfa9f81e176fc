import { describe, expect, test } from '@jest/globals';

import { createLifecycle } from '../src/lifecycle.ts';
import { createLogger } from '../src/logger.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

describe('stopping', () => {
  test('closes in reverse order, one after the other', async () => {
    const { lifecycle, stopped } = createLifecycle({ logger });
    const order: string[] = [];
    for (const name of ['pool', 'consumers', 'server']) {
      lifecycle.onStop(name, async () => {
        order.push(`${name} closing`);
        await Promise.resolve();
        order.push(`${name} closed`);
      });
    }
    await lifecycle.stop('test');
    expect(order).toEqual(['server', 'consumers', 'pool'].flatMap((name) => [`${name} closing`, `${name} closed`]));
    expect(await stopped).toEqual({ clean: true });
  });

  test('the signal aborts before anything is closed', async () => {
    const { lifecycle } = createLifecycle({ logger });
    let abortedAtClose = false;
    lifecycle.onStop('server', () => void (abortedAtClose = lifecycle.stopping.aborted));
    expect(lifecycle.stopping.aborted).toBe(false);
    await lifecycle.stop('test');
    expect(abortedAtClose).toBe(true);
  });

  test('after an error while closing everything else is closed, and the stop is not clean', async () => {
    const { lifecycle, stopped } = createLifecycle({ logger });
    let poolClosed = false;
    lifecycle.onStop('pool', () => void (poolClosed = true));
    lifecycle.onStop('broken', () => Promise.reject(new Error('cannot close')));
    await lifecycle.stop('test');
    expect(poolClosed).toBe(true);
    expect(await stopped).toEqual({ clean: false });
  });

  test('a resource that never closes is abandoned at the time limit', async () => {
    const { lifecycle, stopped } = createLifecycle({ logger, timeoutMs: 10 });
    lifecycle.onStop('stuck', () => new Promise(() => undefined));
    await lifecycle.stop('test');
    expect(await stopped).toEqual({ clean: false });
  });

  test('stopping twice closes once', async () => {
    const { lifecycle } = createLifecycle({ logger });
    let times = 0;
    lifecycle.onStop('pool', () => void (times += 1));
    await Promise.all([lifecycle.stop('one'), lifecycle.stop('two')]);
    expect(times).toBe(1);
  });

  test('a resource opened during or after a stop is closed too', async () => {
    const { lifecycle } = createLifecycle({ logger });
    const closed: string[] = [];
    lifecycle.onStop('first', () => lifecycle.onStop('during', () => void closed.push('during')));
    await lifecycle.stop('test');
    const { promise, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
    lifecycle.onStop('after', () => {
      closed.push('after');
      resolve();
    });
    await promise;
    expect(closed).toEqual(['during', 'after']);
  });
});
