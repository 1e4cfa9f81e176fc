import { expect } from '@jest/globals';
import type { HttpAnswer } from '../../support/http.ts';

/** The same request `count` times, all at once. */
export const repeated = (times: number, ask: () => Promise<HttpAnswer>): Promise<HttpAnswer[]> =>
  Promise.all(Array.from({ length: times }, ask));

export function expectStatuses(answers: HttpAnswer[], status: number): void {
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
}

/** Answers of the one status that means admitted; all others are refusals of the counter. */
export function expectAdmitted(answers: HttpAnswer[], admitted: Record<number, number>): void {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  const [count] = Object.values(admitted);
  expect(counts).toEqual({ ...admitted, 429: answers.length - count! });
  for (const answer of answers.filter(({ status }) => status === 429)) expectRefused(answer, 60);
}

/** The application's 429, whose Retry-After lies within the counter's window. */
export function expectRefused(answer: HttpAnswer, windowSeconds: number): void {
  expect([answer.status, answer.text]).toEqual([429, '{"detail":"Rate limit exceeded"}']);
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(windowSeconds);
}
