import type { UnitPrices } from '@quittance/contracts/price-lists.ts';

/** One node of a network. Its URLs and headers may hold keys: they are never logged nor shown. */
export type RpcNode = {
  url: string;
  /** By lowercase name. */
  headers: Record<string, string>;
  wsUrl: string | null;
  requestsPerSecond: number | null;
  /** Null where the plan has no daily limit. */
  dailyPlan: DailyPlan | null;
};

/** What a provider's plan allows in a day; at least one of the two limits. */
export type DailyPlan = {
  requestsPerDay: number | null;
  unitsPerDay: number | null;
  /** Null without a limit of units. */
  unitPrices: UnitPrices | null;
  /** Minutes after midnight UTC. */
  beginsAtMinute: number;
};

/** The part of a network that talking to its nodes needs. */
export type RpcNetwork = {
  id: string;
  chain_id: number;
  /** Best first, in the order of `rpc_urls`. */
  endpoints: RpcNode[];
};
