import { expect } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { HttpAnswer } from '../../support/http.ts';

/** Requests by name. */
export type Asked = Record<string, () => Promise<HttpAnswer>>;

/**
 * The breaker lets one request a second through. Four reads of one merchant, asked for this often, are a hundred of the 120 that are
 * admitted in a minute, and creations twenty-five of thirty.
 */
export const recovery = { timeoutMs: 25_000, intervalMs: 1_000 };

/**
 * The services give up after 1.5 s. The contract promises no number, only that no caller hangs: so this is many times that, which a
 * busy machine never needs, and a small part of the time that a caller would wait for what is never given up.
 */
const BOUND_MS = 8_000;

/** Asks all at once; each must be 503 with its own words, in time. How long they took is told. */
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

/** Asks all at once; each must be answered with this status. */
export async function expectEach(asked: Asked, status: number): Promise<void> {
  const answers = await Promise.all(
    Object.entries(asked).map(async ([name, ask]) => `${name} ${(await ask()).status}`),
  );
  expect(answers).toEqual(Object.keys(asked).map((name) => `${name} ${status}`));
}

/** Waits until all of them succeed again. */
export const recovered = (asked: Asked): Promise<void> => eventually(() => expectEach(asked, 200), recovery);
