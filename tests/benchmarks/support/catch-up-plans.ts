import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAddress } from '@quittance/contracts/address.ts';
import { priceLists, type UnitPrices } from '@quittance/contracts/networks.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import type { BlockPlan } from './synthetic-chain.ts';

/** A network, as dense as in November 2026, behind a provider's free plan. */
export type CatchUpPlan = {
  /** In infra/networks.json. */
  id: 'tron' | 'ethereum';
  provider: string;
  requestsPerSecond: number;
  /** Of an `eth_getLogs`. */
  maxBlockRange: number;
  /** What calls cost, and what ten seconds may cost; null where the plan counts calls. */
  units: { prices: UnitPrices; inTenSeconds: number } | null;
  blockMs: number;
  /** Blocks below the newest one that are not final. */
  unfinal: number;
  hasBloom: boolean;
  block: BlockPlan;
};

const alchemy = priceLists['alchemy'] as UnitPrices;
const UNITS_PER_SECOND = 500;
/** A range takes five calls: the head, the final block, its own first and last block, and its events. */
const unitsOfRange = 4 * alchemy.default + (alchemy['eth_getLogs'] ?? alchemy.default);

/**
 * Sources, November 2026: developers.tron.network, rate limits; alchemy.com/docs, throughput (500 units a second, evaluated over ten) and
 * eth_getLogs (ten blocks).
 */
export const catchUpPlans: readonly CatchUpPlan[] = [
  {
    ...{ id: 'tron', provider: 'TronGrid', requestsPerSecond: 15, maxBlockRange: 100, units: null },
    ...{ blockMs: 3_000, unfinal: 19, hasBloom: false, block: { events: 70, matches: 0, others: 30 } },
  },
  {
    ...{ id: 'ethereum', provider: 'Alchemy', maxBlockRange: 10 },
    requestsPerSecond: Math.floor((5 * UNITS_PER_SECOND) / unitsOfRange),
    units: { prices: alchemy, inTenSeconds: 10 * UNITS_PER_SECOND },
    ...{ blockMs: 12_000, unfinal: 96, hasBloom: true, block: { events: 150, matches: 0, others: 60 } },
  },
];

/** One block in this many has a transfer that pays an order. */
export const PAID_EVERY = 10;

type Entry = { chain_id: number; usdt_contract: string };

/** The network's entry in the shipped file, read at this address alone. */
export async function entryOf(plan: CatchUpPlan, url: string): Promise<{ entry: Entry; token: string }> {
  const shipped = JSON.parse(await readFile(join(repositoryRoot, 'infra', 'networks.json'), 'utf8')) as (Entry & {
    id: string;
  })[];
  const found = shipped.find(({ id }) => id === plan.id);
  const token = parseAddress(found?.usdt_contract ?? '')?.hex;
  if (found === undefined || token === undefined) throw new Error(`${plan.id} is not shipped`);
  const endpoint = { url, requests_per_second: plan.requestsPerSecond };
  return { entry: { ...found, ...{ rpc_urls: [endpoint], max_block_range: plan.maxBlockRange } }, token };
}
