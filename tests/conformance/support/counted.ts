import { expect } from '@jest/globals';
import { fewAtATime, type HttpAnswer } from '../../support/http.ts';

/** The same request so many times, a few at once. */
export const repeated = (times: number, ask: () => Promise<HttpAnswer>): Promise<HttpAnswer[]> =>
  fewAtATime(Array.from({ length: times }, () => ask));

export function expectStatuses(answers: HttpAnswer[], status: number): void {
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
}

/**
 * `count` answers of the one status that means admitted; all others are refusals of the counter. On a busy machine some of either
 * are answered 503 for being late: they are counted all the same.
 */
export function expectAdmitted(answers: HttpAnswer[], status: number, count: number): void {
  const {
    [status]: taken = [],
    429: refused = [],
    503: late = [],
    ...others
  } = Object.groupBy(answers, (answer) => String(answer.status));
  expect(others).toEqual({});
  expect(taken).not.toHaveLength(0);
  // Without a late one both numbers are exact.
  expect(taken.length).toBeLessThanOrEqual(count);
  expect(refused.length).toBeLessThanOrEqual(answers.length - count);
  expect(late.length).toBeLessThan(count);
  for (const answer of refused) expectRefused(answer, 60);
}

/** The application's 429, whose Retry-After lies within the counter's window. */
export function expectRefused(answer: HttpAnswer, windowSeconds: number): void {
  expect([answer.status, answer.text]).toEqual([429, '{"detail":"Rate limit exceeded","code":"rate_limited"}']);
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(windowSeconds);
}
