import { describe, expect, test } from '@jest/globals';

import { createLogger } from '../src/logger.ts';
import { waitFor } from '../src/wait-for.ts';

const common = { name: 'PostgreSQL', logger: createLogger({ service: 'test', level: 'silent' }) };

describe('waiting for a backend', () => {
  test('ends with its first answer', async () => {
    let checks = 0;
    const check = () => {
      checks += 1;
      if (checks < 2) throw new Error('not yet');
    };
    await waitFor({ ...common, check, timeoutMs: 30_000 });
    expect(checks).toBe(2);
  });

  test('gives up after the timeout, naming the backend and the last failure', async () => {
    const refused = new AggregateError([new Error('connect ECONNREFUSED 127.0.0.1:1')], '');
    const waiting = waitFor({ ...common, check: () => Promise.reject(refused), timeoutMs: 20 });
    await expect(waiting).rejects.toThrow(
      'PostgreSQL is not available (waited 20 ms): connect ECONNREFUSED 127.0.0.1:1',
    );
  });

  test("a refusal ends it immediately, with the backend's message", async () => {
    let checks = 0;
    const check = () => {
      checks += 1;
      throw new Error('password authentication failed for user "quota"');
    };
    const waiting = waitFor({ ...common, check, isRefusal: () => true, timeoutMs: 30_000 });
    await expect(waiting).rejects.toThrow('PostgreSQL refuses this process: password authentication failed');
    expect(checks).toBe(1);
  });

  test('the wait is logged once, not at each attempt', async () => {
    const lines: string[] = [];
    const logger = createLogger({ service: 'test', level: 'info' }, { write: (line: string) => void lines.push(line) });
    let checks = 0;
    const check = () => {
      checks += 1;
      if (checks < 4) throw new Error('not yet');
    };
    await waitFor({ ...common, logger, check, timeoutMs: 30_000 });
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'waiting for a backend',
      'backend is available',
    ]);
  });

  test('a check that hangs does not hang the wait', async () => {
    const waiting = waitFor({ ...common, check: () => new Promise(() => undefined), timeoutMs: 20 });
    await expect(waiting).rejects.toThrow('PostgreSQL is not available (waited 20 ms): no answer');
  });

  test('a stop ends it', async () => {
    const controller = new AbortController();
    const check = () => {
      controller.abort();
      throw new Error('refused');
    };
    const waiting = waitFor({ ...common, check, timeoutMs: 30_000, signal: controller.signal });
    await expect(waiting).rejects.toThrow('PostgreSQL is not available (the process is stopping): refused');
  });
});
