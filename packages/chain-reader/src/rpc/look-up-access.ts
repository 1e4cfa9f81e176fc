import { createDailyBudget, type DailyBudget } from './daily-budget.ts';
import type { DailyPlan } from './network.ts';
import { RpcProvider, type RpcProviderOptions } from './provider.ts';
import type { Budget } from './throttle.ts';

/** The part of a daily plan that look-ups may use. */
const DAY_SHARE = 0.01;
const LIMITS = { timeoutMs: 5_000, maxResponseBytes: 8 * 1024 * 1024 };

/**
 * How look-ups use an endpoint. They have their own connections and limits, so that no batch of the scan waits for a look-up, and they use
 * only what the scan leaves of the budgets.
 * @param options.listenersWith makes listeners that count the requests in these budgets.
 */
export function createLookUpAccess({
  address,
  plan,
  budget,
  dailyBudget,
  listenersWith,
}: {
  address: Pick<RpcProviderOptions, 'endpoint' | 'url' | 'headers' | 'chainId' | 'isProven' | 'onFalse'>;
  plan: DailyPlan | null;
  budget: Budget;
  dailyBudget: DailyBudget | null;
  listenersWith: (dailyBudgets: readonly (DailyBudget | null)[]) => Pick<RpcProviderOptions, 'onExchange' | 'onHead'>;
}) {
  const ownBudget = plan === null ? null : createDailyBudget(shareOf(plan, DAY_SHARE));
  const rpc = new RpcProvider({ ...address, ...LIMITS, budget, ...listenersWith([dailyBudget, ownBudget]) });
  return {
    rpc,
    /** Null when the plan has no daily limit. */
    dailyBudget: ownBudget,
    /** Whether half of the current burst is free, and both daily budgets have some left. @param share of the own daily budget to use at most. */
    hasBudget(share: number): boolean {
      if (budget.waitMs(Math.ceil(budget.burst / 2)) > 0) return false;
      return (dailyBudget?.usedShare() ?? 0) < 1 && (ownBudget?.usedShare() ?? 0) < share;
    },
  };
}

function shareOf(plan: DailyPlan, share: number): DailyPlan {
  const { requestsPerDay: requests, unitsPerDay: units } = plan;
  return {
    ...plan,
    requestsPerDay: requests === null ? null : requests * share,
    unitsPerDay: units === null ? null : units * share,
  };
}
