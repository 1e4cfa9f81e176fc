import { expect, test } from '@jest/globals';
import { stagesOf } from './webhook-journeys.ts';

test('a stage of journeys begins where the one before ends, and the whole has percentiles of its own', () => {
  const quickThenSlow = { committedAt: 100, heardAt: 101, arrivedAt: 131 };
  const slowThenQuick = { committedAt: 200, heardAt: 240, arrivedAt: 242 };
  const { heard, sent, together } = stagesOf([quickThenSlow, slowThenQuick]);
  expect([heard.p50, heard.max]).toEqual([1, 40]);
  expect([sent.p50, sent.max]).toEqual([2, 30]);
  expect([together.p50, together.max]).toEqual([31, 42]);
});
