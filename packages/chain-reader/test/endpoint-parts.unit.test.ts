import { describe, expect, test } from '@jest/globals';
import { createBudget, createCooldown } from '../src/rpc/throttle.ts';
import { bestHead, createHeadTrust, lagBlocks, lags, type Head } from '../src/rpc/heads.ts';
import { RpcError } from '../src/rpc/errors.ts';

/** A clock that only moves when a test moves it. */
function stoppedClock() {
  let nowMs = 1_000;
  return { now: () => nowMs, pass: (milliseconds: number) => void (nowMs += milliseconds) };
}

describe('a budget', () => {
  test('allows the calls of one second at once, and then as many as are earned', async () => {
    const clock = stoppedClock();
    const budget = createBudget(10, { maxWaitMs: 0, now: clock.now });
    await budget.take(7);
    await budget.take(3);
    expect(budget.waitMs(1)).toBeCloseTo(100);
    await expect(budget.take(1)).rejects.toMatchObject({ kind: 'no_budget' });
    clock.pass(100);
    expect(budget.waitMs(1)).toBeCloseTo(0);
    expect(budget.waitMs(4)).toBeCloseTo(300);
  });

  test('saves no more than one second', () => {
    const clock = stoppedClock();
    const budget = createBudget(10, { maxWaitMs: 0, now: clock.now });
    clock.pass(3_600_000);
    expect(budget.waitMs(10)).toBe(0);
    expect(budget.waitMs(11)).toBeCloseTo(100);
  });

  test('refuses immediately a call that would wait too long, at no cost', async () => {
    const clock = stoppedClock();
    const budget = createBudget(1, { maxWaitMs: 1_500, now: clock.now });
    await budget.take(1);
    const waiting = budget.take(1).catch((error: unknown) => error);
    await expect(budget.take(1)).rejects.toMatchObject({ kind: 'no_budget' });
    expect(budget.waitMs(1)).toBeCloseTo(2_000);
    budget.close();
    expect(await waiting).toMatchObject({ kind: 'unreachable' });
  });

  test('of less than one call a second still allows one', async () => {
    const clock = stoppedClock();
    const budget = createBudget(0.5, { maxWaitMs: 0, now: clock.now });
    expect(budget.burst).toBe(1);
    await budget.take(1);
    expect(budget.waitMs(1)).toBeCloseTo(2_000);
  });

  test('sends waiting calls in the order of the requests', async () => {
    // If the clock kept running, a delayed caller might find the next call already earned.
    const budget = createBudget(200, { maxWaitMs: 10_000, now: stoppedClock().now });
    await budget.take(200);
    const order: number[] = [];
    await Promise.all([1, 2, 3].map(async (number) => budget.take(1).then(() => order.push(number))));
    expect(order).toEqual([1, 2, 3]);
  });

  test('without a number has no limit', async () => {
    const budget = createBudget(null, { maxWaitMs: 0 });
    await budget.take(1_000_000);
    expect(budget.waitMs(1_000_000)).toBe(0);
  });
});

describe('the cooldown after a refusal', () => {
  const refusal = (retryAfterMs: number | null = null) => new RpcError('rate_limit', 'slow down', { retryAfterMs });
  const restWith = (random: number) => {
    const clock = stoppedClock();
    return { clock, rest: createCooldown({ now: clock.now, random: () => random }) };
  };

  test('is exactly as long as the endpoint asks for', () => {
    const { clock, rest } = restWith(1);
    expect(rest.startAfter(refusal(7_000))).toBe(true);
    clock.pass(6_999);
    expect(rest.leftMs()).toBe(1);
    clock.pass(1);
    expect(rest.leftMs()).toBe(0);
  });

  test('follows its last request, even if we had assumed a longer one before', () => {
    const { rest } = restWith(1);
    for (const said of [null, 20_000, 3_000]) rest.startAfter(refusal(said));
    expect(rest.leftMs()).toBe(3_000);
  });

  test('is limited, regardless of what it asks for', () => {
    const { rest } = restWith(1);
    rest.startAfter(refusal(86_400_000));
    expect(rest.leftMs()).toBe(300_000);
  });

  test('doubles while it names no time, up to half a minute, and starts again after an answer', () => {
    const { clock, rest } = restWith(1);
    const lengths: number[] = [];
    for (let refusals = 0; refusals < 9; refusals += 1) {
      rest.startAfter(refusal());
      lengths.push(rest.leftMs());
      clock.pass(rest.leftMs());
    }
    expect(lengths).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    rest.reset();
    rest.startAfter(refusal());
    expect(rest.leftMs()).toBe(500);
  });

  test('varies, so that several watchers do not all retry at once', () => {
    const [shortest, longest] = [restWith(0), restWith(1)];
    shortest.rest.startAfter(refusal());
    longest.rest.startAfter(refusal());
    expect([shortest.rest.leftMs(), longest.rest.leftMs()]).toEqual([250, 500]);
  });

  test('counts refusals of simultaneous requests once, and an answer among them does not end it', () => {
    const { clock, rest } = restWith(1);
    for (let requests = 0; requests < 20; requests += 1) rest.startAfter(refusal());
    rest.reset();
    expect(rest.leftMs()).toBe(500);
    clock.pass(500);
    rest.startAfter(refusal());
    expect(rest.leftMs()).toBe(1_000);
  });

  test('follows every failure that names a time, and no other failure', () => {
    const { rest } = restWith(1);
    expect(rest.startAfter(new RpcError('unreachable', 'HTTP 503'))).toBe(false);
    expect(rest.leftMs()).toBe(0);
    expect(rest.startAfter(new RpcError('unreachable', 'HTTP 503', { retryAfterMs: 2_000 }))).toBe(true);
    expect(rest.leftMs()).toBe(2_000);
  });
});

describe('an endpoint lags', () => {
  const head = (number: number, timestamp: number): Head => ({ number, timestamp });

  test.each<[string, Head | null, boolean]>([
    ['many blocks and much time behind', head(90, 900), true],
    ['four blocks and sixteen seconds behind', head(96, 984), true],
    ['many blocks but little time behind, on a quick chain', head(50, 990), false],
    ['much time but few blocks behind, on a slow chain', head(97, 900), false],
    ['at the same head', head(100, 1000), false],
    ['ahead', head(120, 1200), false],
    ['not heard yet', null, false],
  ])('when it is behind in blocks and in time: %s', (_, its, expected) => {
    expect(lags(its, head(100, 1000))).toBe(expected);
  });

  test('never while no other head is known', () => {
    expect(lags(head(1, 1), null)).toBe(false);
    expect(lagBlocks(head(1, 1), null)).toBe(0);
  });

  test('behind the best trusted head, not behind a false one', () => {
    const claims = [
      { head: head(100, 1000), isTrusted: true },
      { head: head(105, 1060), isTrusted: true },
      { head: head(1_000_105, 9_000_000), isTrusted: false },
      { head: null, isTrusted: true },
    ];
    expect(bestHead(claims)).toEqual(head(105, 1060));
    expect(bestHead([])).toBeNull();
  });
});

describe('the trust in an endpoint that claims a head', () => {
  test('is lost for longer each time it cannot show the blocks, and returns when it can', () => {
    const clock = stoppedClock();
    const credit = createHeadTrust(clock.now);
    const lostForMs = () => {
      credit.disproven();
      let passedMs = 0;
      for (; !credit.isTrusted(); passedMs += 1_000) clock.pass(1_000);
      return passedMs;
    };
    expect([lostForMs(), lostForMs(), lostForMs()]).toEqual([30_000, 60_000, 120_000]);
    credit.proven();
    expect(lostForMs()).toBe(30_000);
    for (let losses = 0; losses < 20; losses += 1) lostForMs();
    expect(lostForMs()).toBe(3_600_000);
  });

  test('is lost only once by reads that fail together', () => {
    const clock = stoppedClock();
    const credit = createHeadTrust(clock.now);
    for (let reads = 0; reads < 10; reads += 1) credit.disproven();
    credit.proven();
    expect(credit.isTrusted()).toBe(false);
    clock.pass(30_000);
    expect(credit.isTrusted()).toBe(true);
  });
});
