import { createDailyBudget, type DailyBudget } from './daily-budget.ts';
import type { DailyPlan } from './network.ts';
import { RpcProvider, type RpcProviderOptions } from './provider.ts';
import type { Budget } from './throttle.ts';

/** The part of a plan's day that look-ups may take. */
const DAY_SHARE = 0.01;
const LIMITS = { timeoutMs: 5_000, maxResponseBytes: 8 * 1024 * 1024 };

/**
 * What look-ups use of an endpoint: connections and limits of its own, so that no batch of the scan waits for an answer to somebody's
 * question, and only what the scan leaves of its budgets.
 * @param options.listenersWith makes the listeners that count what is asked in these budgets.
 */
export function createLookUpAccess({
  address,
  plan,
  budget,
  dailyBudget,
  listenersWith,
}: {
  address: Pick<RpcProviderOptions, 'endpoint' | 'url' | 'headers' | 'chainId'>;
  plan: DailyPlan | null;
  budget: Budget;
  dailyBudget: DailyBudget | null;
  listenersWith: (dailyBudgets: readonly (DailyBudget | null)[]) => Pick<RpcProviderOptions, 'onExchange' | 'onHead'>;
}) {
  const ownBudget = plan === null ? null : createDailyBudget(shareOf(plan, DAY_SHARE));
  const rpc = new RpcProvider({ ...address, ...LIMITS, budget, ...listenersWith([dailyBudget, ownBudget]) });
  return {
    rpc,
    /** Null where the plan has no daily limit. */
    dailyBudget: ownBudget,
    /** Whether half of what may be asked just now is there, and some of both days. @param share of its own day that may be used. */
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
