import { describe, expect, test } from '@jest/globals';
import { priceLists } from '@quittance/contracts/networks.ts';
import { createDailyBudget } from '../src/rpc/daily-budget.ts';
import type { DailyPlan } from '../src/rpc/network.ts';
import { createPacer } from '../src/rpc/throttle.ts';

const HOUR_MS = 3_600_000;
const MIDNIGHT = Date.UTC(2026, 10, 23);
const calls = (count: number) => Array.from({ length: count }, () => 'eth_getBlockByNumber');

/** A budget with its own clock, which starts at midnight. */
function budgetOf(changes: Partial<DailyPlan>) {
  let hour = 0;
  const plan = { requestsPerDay: null, unitsPerDay: null, unitPrices: null, beginsAtMinute: 0, ...changes };
  const budget = createDailyBudget(plan, () => MIDNIGHT + hour * HOUR_MS);
  return { ...budget, at: (next: number) => void (hour = next) };
}

describe('a day of a plan', () => {
  test('is spent evenly: after more use, reads wait until the day has caught up', () => {
    const budget = budgetOf({ requestsPerDay: 2_400 });
    budget.count(calls(300));
    budget.at(2);
    expect(budget.waitMs('background')).toBeCloseTo(HOUR_MS);
    expect(budget.ahead()).toBeCloseTo(1 / 24);
    budget.at(3);
    expect(budget.waitMs('background')).toBe(0);
  });

  test('lets reads for waiting payments run ahead by an hour', () => {
    const budget = budgetOf({ requestsPerDay: 2_400 });
    budget.at(5);
    budget.count(calls(599));
    expect([budget.waitMs('payments'), budget.waitMs('background') > 0]).toEqual([0, true]);
    budget.count(calls(51));
    expect(budget.waitMs('payments')).toBeCloseTo(HOUR_MS / 2);
  });

  test('that is used up allows nothing more until the next one begins', () => {
    const budget = budgetOf({ requestsPerDay: 2_400 });
    budget.at(23.5);
    budget.count(calls(2_400));
    expect(budget.waitMs('payments')).toBeCloseTo(HOUR_MS / 2);
    budget.count(calls(100));
    expect(budget.waitMs('payments')).toBeCloseTo(HOUR_MS / 2);
  });

  test('ends when the plan says, and the next one begins unused', () => {
    const budget = budgetOf({ requestsPerDay: 100, beginsAtMinute: 8 * 60 });
    budget.count(calls(100));
    expect(budget.takeUnstored().day).toBe('2026-11-22');
    expect(budget.dayEndsAt()).toBe(MIDNIGHT + 8 * HOUR_MS);
    budget.at(8);
    expect(budget.used()).toEqual({ requests: 0, units: 0 });
    expect(budget.takeUnstored().day).toBe('2026-11-23');
    expect(budget.dayEndsAt()).toBe(MIDNIGHT + 32 * HOUR_MS);
  });

  test('is counted in requests and in units by method, and the scarcer of both decides', () => {
    const unitPrices = { default: 20, eth_getLogs: 60 };
    const budget = budgetOf({ requestsPerDay: 1_000, unitsPerDay: 1_000, unitPrices });
    budget.count(['eth_getLogs', 'eth_getBlockByHash', 'eth_getBlockByNumber']);
    expect(budget.used()).toEqual({ requests: 3, units: 100 });
    expect(budget.usedShare()).toBeCloseTo(0.1);
  });

  test('counts a batch as an extra call if the provider does', () => {
    const budget = budgetOf({ unitsPerDay: 1_000, unitPrices: priceLists['infura']! });
    budget.count(['eth_getLogs']);
    budget.count(['eth_chainId', 'eth_chainId']);
    expect(budget.used().units).toBe(255 + 5 + 5 + 80);
  });

  test('includes the usage of other replicas, and counts nothing twice when storing fails', () => {
    const budget = budgetOf({ requestsPerDay: 1_000 });
    budget.count(calls(10));
    const taken = budget.takeUnstored();
    expect([taken.usage.requests, budget.used().requests]).toEqual([10, 10]);
    budget.bringBack(taken);
    expect(budget.used().requests).toBe(10);
    const again = budget.takeUnstored();
    budget.count(calls(1));
    budget.setStored(again.day, { requests: 500, units: 0 });
    expect(budget.used().requests).toBe(501);
    budget.setStored('2026-11-22', { requests: 0, units: 0 });
    expect(budget.used().requests).toBe(501);
  });
});

describe('work on a budget', () => {
  const pacerOn = (waitMs: () => number) => {
    let seconds = 0;
    const mayBegin = createPacer(waitMs, () => seconds * 1000);
    return { mayBegin, at: (next: number) => void (seconds = next) };
  };

  test('begins immediately while the budget allows it', () => {
    const { mayBegin } = pacerOn(() => 0);
    expect([mayBegin('follow', 'payments'), mayBegin('follow', 'payments')]).toEqual([true, true]);
  });

  test('gets slower but never stops: at least once a minute for payments, and every ten minutes otherwise', () => {
    const { mayBegin, at } = pacerOn(() => 8 * HOUR_MS);
    const begun = { follow: 0, audit: 0 };
    for (let second = 0; second < 3_600; second += 1) {
      at(second);
      if (mayBegin('follow', 'payments')) begun.follow += 1;
      if (mayBegin('audit', 'background')) begun.audit += 1;
    }
    expect(begun).toEqual({ follow: 60, audit: 6 });
  });

  test('continues as soon as the budget allows it', () => {
    let wait = 0;
    const { mayBegin } = pacerOn(() => wait);
    expect(mayBegin('follow', 'payments')).toBe(true);
    wait = 1;
    expect(mayBegin('follow', 'payments')).toBe(false);
    wait = 0;
    expect(mayBegin('follow', 'payments')).toBe(true);
  });
});
