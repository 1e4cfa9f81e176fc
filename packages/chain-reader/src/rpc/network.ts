import type { UnitPrices } from '@quittance/contracts/networks.ts';

/** One node of a network. Its URLs and headers may hold keys, so they are never logged or shown. */
export type RpcNode = {
  url: string;
  /** By lowercase name. */
  headers: Record<string, string>;
  wsUrl: string | null;
  requestsPerSecond: number | null;
  /** Null when the plan has no daily limit. */
  dailyPlan: DailyPlan | null;
};

/** What a provider's plan allows in a day. At least one of the two limits is set. */
export type DailyPlan = {
  requestsPerDay: number | null;
  unitsPerDay: number | null;
  /** Null without a limit for units. */
  unitPrices: UnitPrices | null;
  /** Minutes after midnight UTC. */
  beginsAtMinute: number;
};

/** What is needed of a network to talk to its nodes. */
export type RpcNetwork = {
  id: string;
  chain_id: number;
  /** Whether the hash of a block proves its header and its receipts. */
  isProven: boolean;
  /** Best first, in the order of `rpc_urls`. */
  endpoints: RpcNode[];
};
