import { expect, test } from '@jest/globals';
import { stagesOf } from './webhook-journeys.ts';

test('a stage begins where the one before ends, and the whole has its own percentiles', () => {
  const quickThenSlow = { committedAt: 100, storedAt: 101, arrivedAt: 131 };
  const slowThenQuick = { committedAt: 200, storedAt: 240, arrivedAt: 242 };
  const { stored, sent, together } = stagesOf([quickThenSlow, slowThenQuick]);
  expect([stored.p50, stored.max]).toEqual([1, 40]);
  expect([sent.p50, sent.max]).toEqual([2, 30]);
  expect([together.p50, together.max]).toEqual([31, 42]);
});
