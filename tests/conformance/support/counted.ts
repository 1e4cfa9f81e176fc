import { expect } from '@jest/globals';
import { fewAtATime, type HttpAnswer } from '../../support/http.ts';

/** Sends the same request a number of times, a few at once. */
export const repeated = (times: number, ask: () => Promise<HttpAnswer>): Promise<HttpAnswer[]> =>
  fewAtATime(Array.from({ length: times }, () => ask));

export function expectStatuses(answers: HttpAnswer[], status: number): void {
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
}

/**
 * Expects `count` answers with the status that means admitted; all others must be refusals of the counter. On a busy machine some are
 * answered 503 for being late; they count all the same.
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

/** The application's 429, with a Retry-After within the counter's window. */
export function expectRefused(answer: HttpAnswer, windowSeconds: number): void {
  expect([answer.status, answer.text]).toEqual([429, '{"detail":"Rate limit exceeded","code":"rate_limited"}']);
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(windowSeconds);
}
