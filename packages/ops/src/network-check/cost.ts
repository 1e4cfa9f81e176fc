import { createLocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import { NEAR_HEAD_BLOCKS, poll } from '@quittance/chain-reader/chain/poll.ts';
import { readRange } from '@quittance/chain-reader/chain/read-range.ts';
import { createWatchSet } from '@quittance/chain-reader/chain/watch-set.ts';
import { priceLists, type UnitPrices } from '@quittance/contracts/price-lists.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { readBlockAt, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import type { Tip } from './basics.ts';
import { finding, grouped, type Finding } from './finding.ts';
import { patiently, type Probe } from './probe.ts';

/** What the provider's plan allows, as the operator gives it; null for what is not limited so. */
export type Plan = {
  requestsPerDay: number | null;
  unitsPerDay: number | null;
  requestsPerSecond: number | null;
  /** The name of a list that says how many units a call takes; null where the provider counts none, or its list is not given. */
  priceList: string | null;
};

export const pricesOf = ({ priceList }: Plan): UnitPrices | null =>
  priceList === null ? null : (priceLists[priceList] ?? null);

/** Calls a day by method. */
export type Calls = Record<string, number>;

export type Cost = {
  /** As the first endpoint, with payments waiting all day. */
  asFirst: Calls;
  /** As the second endpoint: every final block is read once more. */
  asSecond: Calls;
};

const DAY_SECONDS = 86_400;
/** Looks that are measured. One of five asks up to where the chain is final, as on a chain whose blocks come at regular times. */
const SAMPLES = 5;
/** Of the looks for a block that is due, those that come too early and find nothing. */
const EMPTY_LOOKS = 0.2;

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
  const samples: Calls[] = [];
  while (samples.length < SAMPLES) samples.push(await callsOfLook(probe, blocksPerLook, samples.length === 0));
  const ofBlocks = await callsOf(probe, () => readRange(rpc, network, settled - provedBlocks + 1, settled, null));
  const perLook = scaled(together(samples), 1 / SAMPLES);
  const emptyLooks = blockSeconds > network.poll_interval_ms / 1000 ? (EMPTY_LOOKS * DAY_SECONDS) / lookSeconds : 0;
  return {
    asFirst: together([scaled(perLook, DAY_SECONDS / lookSeconds), { eth_getBlockByNumber: emptyLooks }]),
    asSecond: scaled(ofBlocks, DAY_SECONDS / blockSeconds / provedBlocks),
  };
}

/** One poll, as if everything but the newest blocks had been read. */
async function callsOfLook(probe: Probe, blocks: number, asksFinality: boolean): Promise<Calls> {
  const { rpc, network } = probe;
  const { number } = await patiently(() => readHead(rpc));
  const below = await patiently(() => readBlockAt(rpc, Math.max(0, number - blocks)));
  if (below === null) throw new RpcError('unknown_block', 'the node lacks a block below its own head');
  const context = {
    network,
    chain: createLocalChain([below]),
    watches: createWatchSet(),
    finalized: 0,
    hasNamedFinal: true,
    maxBlocks: NEAR_HEAD_BLOCKS,
    asksFinality,
  };
  return callsOf(probe, () => poll(rpc, context));
}

async function callsOf(probe: Probe, read: () => Promise<unknown>): Promise<Calls> {
  const before = probe.calls();
  await patiently(read);
  const asked = [...probe.calls()].map(([method, count]) => [method, count - (before.get(method) ?? 0)] as const);
  return Object.fromEntries(asked.filter(([, count]) => count > 0));
}

function together(all: readonly Calls[]): Calls {
  const sum: Calls = {};
  for (const [method, count] of all.flatMap(Object.entries<number>)) sum[method] = (sum[method] ?? 0) + count;
  return sum;
}

const scaled = (calls: Calls, factor: number): Calls =>
  Object.fromEntries(Object.entries(calls).map(([method, count]) => [method, count * factor]));

export const sumOf = (calls: Calls): number => Object.values(calls).reduce((sum, count) => sum + count, 0);

export const unitsOf = (calls: Calls, prices: UnitPrices): number =>
  Object.entries(calls).reduce((sum, [method, count]) => sum + count * (prices[method] ?? prices.default), 0);

/** Whether each limit of the plan is enough for a first endpoint. A look's calls come at once, and have until the next look. */
export function checkPlan(cost: Cost, plan: Plan): Finding[] {
  const prices = pricesOf(plan);
  const calls = sumOf(cost.asFirst);
  const limits = [
    limit('plan, requests a day', calls, plan.requestsPerDay),
    limit('plan, requests a second', calls / DAY_SECONDS, plan.requestsPerSecond),
    prices === null ? null : limit('plan, units a day', unitsOf(cost.asFirst, prices), plan.unitsPerDay),
  ];
  return limits.filter((each) => each !== null);
}

function limit(check: string, needed: number, allowed: number | null): Finding | null {
  if (allowed === null) return null;
  const found = `${needed < 10 ? needed.toFixed(1) : grouped(needed)} of ${grouped(allowed)}`;
  if (needed <= allowed) return finding(check, 'ok', found);
  return finding(check, 'failed', found, 'too little for a first endpoint while payments wait all day');
}
