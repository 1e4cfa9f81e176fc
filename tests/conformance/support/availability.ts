import { expect } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { HttpAnswer } from '../../support/http.ts';

/** Requests by name. */
export type Asked = Record<string, () => Promise<HttpAnswer>>;

/**
 * The breaker admits one request a second. At this interval, four reads of one merchant are a hundred of the 120 that are admitted in a
 * minute, and creations twenty-five of thirty.
 */
export const recovery = { timeoutMs: 25_000, intervalMs: 1_000 };

/**
 * The services give up after 1.5 s. The contract promises no number, only that no caller hangs. So this is several times that, which a busy
 * machine never needs, and much less than a caller would wait for a request that is never abandoned.
 */
const BOUND_MS = 8_000;

/** Sends all at once. Each must be answered 503 with its own text, in time. Logs how long they took. */
export async function expectUnavailable(when: string, asked: Asked): Promise<void> {
  const answers = await Promise.all(
    Object.entries(asked).map(async ([name, ask]) => {
      const startedAt = performance.now();
      const { status, text } = await ask();
      return { name, answer: `${status} ${text}`, ms: Math.round(performance.now() - startedAt) };
    }),
  );
  console.log(`${when}: ${answers.map(({ name, ms }) => `${name} ${ms} ms`).join(', ')}`);
  for (const { name, answer, ms } of answers) {
    expect([name, answer]).toEqual([name, '503 {"detail":"Service temporarily unavailable","code":"unavailable"}']);
    expect(ms).toBeLessThan(BOUND_MS);
  }
}

/** Sends all at once; each must be answered with this status. */
export async function expectEach(asked: Asked, status: number): Promise<void> {
  const answers = await Promise.all(
    Object.entries(asked).map(async ([name, ask]) => `${name} ${(await ask()).status}`),
  );
  expect(answers).toEqual(Object.keys(asked).map((name) => `${name} ${status}`));
}

/** Waits until all of them succeed again. */
export const recovered = (asked: Asked): Promise<void> => eventually(() => expectEach(asked, 200), recovery);
