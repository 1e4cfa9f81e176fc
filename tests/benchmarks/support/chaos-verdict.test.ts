import { describe, expect, test } from '@jest/globals';
import { judge, type Observed } from './chaos-verdict.ts';

const SECOND = 1_000;

/** 100 jobs a second for 60 s, each done after 5 ms. The disturbance lasts from second 10 to 20. */
function steady(doneAt: (addedAt: number, id: string) => number | null = (addedAt) => addedAt + 5): Observed {
  const accepted = new Map<string, number>();
  const done = new Map<string, number>();
  for (let addedAt = 0; addedAt < 60 * SECOND; addedAt += 10) {
    const id = `job-${addedAt}`;
    accepted.set(id, addedAt);
    const at = doneAt(addedAt, id);
    if (at !== null) done.set(id, at);
  }
  return {
    ...{ accepted, done, repeated: 0, left: 0 },
    ...{ steadyFrom: 0, disturbedFrom: 10 * SECOND, disturbedUntil: 20 * SECOND, observedUntil: 60 * SECOND },
  };
}

/** Nothing is done from second 10 until `until`; what waited is then done 5 times as fast as it came. */
const away =
  (until: number) =>
  (addedAt: number): number =>
    addedAt < 10 * SECOND ? addedAt + 5 : Math.max(addedAt + 5, until + (addedAt - 10 * SECOND) / 5);

describe('the verdict on a contender', () => {
  test('is passed without a gap when the disturbance disturbs nothing', () => {
    expect(judge(steady())).toMatchObject({
      ...{ passed: true, jobs: 6_000, notDone: 0, lost: 0, repeated: 0, rateBackSeconds: 0, emptySeconds: 0.005 },
    });
    expect(judge(steady()).before).toBeCloseTo(100, 0);
    expect(judge(steady()).during).toBeCloseTo(1, 2);
  });

  test('says how long after the disturbance the rate was back and the backlog empty', () => {
    const verdict = judge(steady(away(30 * SECOND)));
    expect(verdict).toMatchObject({ passed: true, notDone: 0, during: 0 });
    // From second 30 on it is five times as fast, so a window of 3 s that ends 0.6 s later has enough.
    expect(verdict.rateBackSeconds).toBeGreaterThan(7);
    expect(verdict.rateBackSeconds).toBeLessThanOrEqual(10);
    // The last job added before second 20 is the 1,000th of the backlog.
    expect(verdict.emptySeconds).toBeCloseTo(12, 1);
  });

  test('is failed when the rate never comes back, even if everything was done in the end', () => {
    const slow = judge(steady((addedAt) => (addedAt < 10 * SECOND ? addedAt + 5 : 20 * SECOND + 2 * addedAt)));
    expect(slow).toMatchObject({ passed: false, notDone: 0, rateBackSeconds: null });
  });

  test('is failed when a job is not done, and a job that is not on record either is lost', () => {
    const missing = steady((addedAt) => (addedAt === 15 * SECOND || addedAt === 16 * SECOND ? null : addedAt + 5));
    expect(judge({ ...missing, left: 2 })).toMatchObject({ passed: false, notDone: 2, lost: 0, emptySeconds: null });
    expect(judge({ ...missing, left: 1 })).toMatchObject({ passed: false, notDone: 2, lost: 1 });
  });

  test('is failed when a job that was added after the disturbance is not done', () => {
    const late = judge(steady((addedAt) => (addedAt === 59 * SECOND ? null : addedAt + 5)));
    expect(late).toMatchObject({ passed: false, notDone: 1, emptySeconds: 0.005 });
  });

  test('is passed when jobs were done twice, and counts them', () => {
    expect(judge({ ...steady(), repeated: 3 })).toMatchObject({ passed: true, repeated: 3 });
  });

  test('ignores jobs whose addition was never acknowledged', () => {
    const observed = steady();
    const done = new Map([...observed.done, ['unacknowledged', 30 * SECOND]]);
    expect(judge({ ...observed, done })).toMatchObject({ passed: true, jobs: 6_000, notDone: 0 });
  });

  test('is failed when nothing was done before either: then there is no rate to come back to', () => {
    expect(judge(steady(() => null))).toMatchObject({ passed: false, rateBackSeconds: null });
  });

  test('gives no rate for a disturbance of a moment', () => {
    expect(judge({ ...steady(), disturbedUntil: 10 * SECOND + 20 }).during).toBeNaN();
  });
});
