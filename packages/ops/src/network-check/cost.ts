import { createLocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { expectedAbove, type Expectation, NEAR_HEAD_BLOCKS } from '@quittance/chain-reader/chain/read-ahead.ts';
import { poll } from '@quittance/chain-reader/chain/poll.ts';
import { readRange } from '@quittance/chain-reader/chain/read-range.ts';
import { createWatchSet } from '@quittance/chain-reader/chain/watch-set.ts';
import { createDailyBudget } from '@quittance/chain-reader/rpc/daily-budget.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { DailyPlan } from '@quittance/chain-reader/rpc/network.ts';
import { readBlockAt, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import type { Tip } from './basics.ts';
import { finding, grouped, type Finding } from './finding.ts';
import { patiently, type Exchange, type Probe } from './probe.ts';

/** What is asked in a day. */
export type Use = {
  /** By method. */
  calls: Record<string, number>;
  /** In the units of the plan; null where the entry gives no prices. */
  units: number | null;
};

export type Cost = {
  /** As the first endpoint, with payments waiting all day. */
  first: Use;
  /** As the first endpoint, while nobody waits. */
  asleep: Use;
  /** As another one: every final block is read once more. */
  second: Use;
};

const DAY_SECONDS = 86_400;
/** Looks that are measured. One of five asks up to where the chain is final, as on a chain whose blocks come at regular times. */
const SAMPLES = 5;
/** Of the looks for a block that is due, those that come too early and find nothing. */
const EMPTY_LOOKS = 0.2;
/** Somebody may still pay late, so there is a wallet to be asked for while nobody waits. */
const LATE_WALLET = `0x${'01'.repeat(20)}`;

/**
 * What watching the chain through this endpoint takes, measured by doing it: the watcher's own poll of the newest blocks and its second
 * reading of final ones, with nothing that matches. Transfers that do match add a receipt each.
 * @param provedBlocks how many final blocks can be read at once; above 0.
 */
export async function measureCost(probe: Probe, tip: Tip, provedBlocks: number): Promise<Cost> {
  const { blockSeconds, settled } = tip;
  const { rpc, network } = probe;
  const lookSeconds = Math.max(blockSeconds, network.poll_interval_ms / 1000);
  const blocksPerLook = Math.max(1, Math.round(lookSeconds / blockSeconds));
  const expects = blocksPerLook > 1 ? 'several' : 'one';
  const awake = await useOfLooks(probe, blocksPerLook, { expects, isAwake: true });
  const asleepSeconds = network.asleep_poll_interval_ms / 1000;
  const blocksAsleep = Math.max(1, Math.round(asleepSeconds / blockSeconds));
  const asleep = await useOfLooks(probe, blocksAsleep, { expects: 'several', isAwake: false });
  const emptyLook = await useOf(probe, () => readHead(rpc));
  const ofBlocks = await useOf(probe, () => readRange(rpc, network, settled - provedBlocks + 1, settled, null));
  const looks = DAY_SECONDS / lookSeconds;
  const emptyLooks = blockSeconds > network.poll_interval_ms / 1000 ? EMPTY_LOOKS * looks : 0;
  return {
    first: together([scaled(awake, looks / SAMPLES), scaled(emptyLook, emptyLooks)]),
    asleep: scaled(asleep, DAY_SECONDS / asleepSeconds / SAMPLES),
    second: scaled(ofBlocks, DAY_SECONDS / blockSeconds / provedBlocks),
  };
}

/** SAMPLES polls, as if everything but the newest blocks had been read. */
async function useOfLooks(
  probe: Probe,
  blocks: number,
  look: { expects: Expectation; isAwake: boolean },
): Promise<Use> {
  const { rpc, network } = probe;
  const watches = createWatchSet();
  watches.add(LATE_WALLET);
  const expected = expectedAbove(network, watches, look);
  const uses: Use[] = [];
  while (uses.length < SAMPLES) {
    const { number } = await patiently(() => readHead(rpc));
    const below = await patiently(() => readBlockAt(rpc, Math.max(0, number - blocks)));
    if (below === null) throw new RpcError('unknown_block', 'the node does not have a block below its own head');
    const context = {
      network,
      chain: createLocalChain([below]),
      watches,
      finalized: 0,
      hasNamedFinal: true,
      maxBlocks: NEAR_HEAD_BLOCKS,
      asksFinality: uses.length === 0,
      asksFinalityAtTip: false,
      expected,
    };
    uses.push(await useOf(probe, () => poll(rpc, context)));
  }
  return together(uses);
}

async function useOf({ exchanges, node }: Probe, read: () => Promise<unknown>): Promise<Use> {
  const before = exchanges.length;
  await patiently(read);
  const made = exchanges.slice(before);
  const calls: Use['calls'] = {};
  for (const method of made.flatMap(({ methods }) => methods)) calls[method] = (calls[method] ?? 0) + 1;
  return { calls, units: unitsOf(made, node.dailyPlan) };
}

/** Counted as the watcher counts them. */
function unitsOf(made: readonly Exchange[], plan: DailyPlan | null): number | null {
  if (plan === null || plan.unitPrices === null) return null;
  const budget = createDailyBudget(plan, () => 0);
  for (const { methods } of made) budget.count(methods);
  return budget.used().units;
}

function together(uses: readonly Use[]): Use {
  const calls: Use['calls'] = {};
  for (const [method, count] of uses.flatMap((use) => Object.entries(use.calls)))
    calls[method] = (calls[method] ?? 0) + count;
  const units = uses.reduce((sum, use) => sum + (use.units ?? 0), 0);
  return { calls, units: uses[0]?.units === null ? null : units };
}

const scaled = ({ calls, units }: Use, factor: number): Use => ({
  calls: Object.fromEntries(Object.entries(calls).map(([method, count]) => [method, Math.round(count * factor)])),
  units: units === null ? null : Math.round(units * factor),
});

export const sumOf = (calls: Use['calls']): number => Object.values(calls).reduce((sum, count) => sum + count, 0);

/**
 * Whether each limit of the endpoint's plan is enough. A look's calls come at once, and have until the next look.
 * @param position the first endpoint is asked all the time, another one in its place and for a second reading.
 */
export function checkPlan({ node }: Probe, cost: Cost, position: number): Finding[] {
  const { calls, units } = position === 0 ? cost.first : cost.second;
  const lack =
    position === 0 ? 'too little while payments wait all day' : 'too little to read every final block once more';
  const limit = (check: string, needed: number | null, allowed: number | null | undefined): Finding | null => {
    if (needed === null || allowed === null || allowed === undefined) return null;
    const found = `${needed < 10 ? needed.toFixed(1) : grouped(needed)} of ${grouped(allowed)}`;
    return needed <= allowed ? finding(check, 'ok', found) : finding(check, 'failed', found, lack);
  };
  const limits = [
    limit('plan, requests a day', sumOf(calls), node.dailyPlan?.requestsPerDay),
    limit('plan, units a day', units, node.dailyPlan?.unitsPerDay),
    limit('plan, requests a second', sumOf(calls) / DAY_SECONDS, node.requestsPerSecond),
  ];
  return limits.filter((each) => each !== null);
}
