import { expect } from '@jest/globals';
import type { HttpAnswer } from '../../support/http.ts';

/** The same request `count` times, all at once. */
export const repeated = (times: number, ask: () => Promise<HttpAnswer>): Promise<HttpAnswer[]> =>
  Promise.all(Array.from({ length: times }, ask));

export function expectStatuses(answers: HttpAnswer[], status: number): void {
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
}

/**
 * `count` answers of the one status that means admitted; all others are refusals of the counter. On a busy machine some of the admitted
 * are answered 503 for being late: they are counted all the same.
 */
export function expectAdmitted(answers: HttpAnswer[], status: number, count: number): void {
  const [refused, others] = [answers.filter(isRefusal), answers.filter((answer) => !isRefusal(answer))];
  expect([others.length, refused.length]).toEqual([count, answers.length - count]);
  const late = others.filter((answer) => answer.status !== status);
  expect(late.length).toBeLessThan(count);
  expectStatuses(late, 503);
  for (const answer of refused) expectRefused(answer, 60);
}

const isRefusal = ({ status }: HttpAnswer): boolean => status === 429;

/** The application's 429, whose Retry-After lies within the counter's window. */
export function expectRefused(answer: HttpAnswer, windowSeconds: number): void {
  expect([answer.status, answer.text]).toEqual([429, '{"detail":"Rate limit exceeded"}']);
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(windowSeconds);
}
