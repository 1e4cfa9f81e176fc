import { defineCall, json } from '../../call.ts';

/** Where the scan of a network stands. Heights are null before the first start. */
export type ChainStatus = {
  network: string;
  /** The newest block when the scan last read one. */
  head: number | null;
  /** The newest block that the endpoints have shown this process lately, however the scan does. Absent in answers of older releases. */
  endpoint_head?: number | null;
  /** The last block that the chain itself calls final. */
  finalized: number | null;
  /** The last block whose transfers may be confirmed. */
  final: number | null;
  /** The last block that was scanned and stored. */
  cursor: number | null;
  cursor_timestamp: string | null;
  /** From the higher of both heads. */
  lag_blocks: number | null;
  /** Age of the last scanned block. */
  lag_seconds: number | null;
  scanned_through: string | null;
  /** The last block that was read a second time. */
  audited: number | null;
  confirmations_required: number;
  watched_wallets: number;
  /** Nobody waits on the network: it is looked at once a minute. */
  asleep: boolean;
  back_fills_waiting: number;
  open_incidents: number;
  halted_at: string | null;
  halt_reason: string | null;
  /** Why the scan could not read on at its last try, a sentence; null when it could, and where another replica leads. */
  scan_error?: string | null;
  /** The process that answers, and whether it is the one that scans. `endpoints` is its own view. */
  replica: string;
  leader: boolean;
  /** Its clock less the database's; null until they were compared. */
  clock_difference_seconds: number | null;
  /**
   * The timestamp of the newest block less the database's clock, when the leader read the block: above 0 the chain's clock is ahead by at
   * least that much, below 0 it is behind by at most that much. Null where another replica leads.
   */
  chain_clock_difference_seconds: number | null;
  endpoints: EndpointStatus[];
};

/** How a replica finds one node of a network. */
export type EndpointStatus = {
  /** Position in the networks file, from 0. The URL itself is never shown: it may hold a key. */
  endpoint: number;
  /** Of its circuit breaker, where `closed` is the healthy one; `cooling_down` after a refusal for asking too often. */
  state: 'closed' | 'open' | 'half_open' | 'cooling_down' | 'lagging';
  head: number | null;
  head_lag_blocks: number;
  latency_ms: { p50: number; p95: number } | null;
  requests: number;
  /** Failed reads so far by cause. */
  failures: Record<string, number>;
  last_error: string | null;
  last_error_at: string | null;
  cooldown_until: string | null;
  /** Of the provider's plan for the day, over all replicas; null where the networks file names none, absent from earlier releases. */
  budget?: {
    day_ends_at: string;
    requests: { used: number; limit: number } | null;
    /** In the provider's units. */
    units: { used: number; limit: number } | null;
    /** Whether more is used than the time of day allows: reads wait. */
    slowed: boolean;
  } | null;
};

/** Every enabled network. */
export const ReadChains = defineCall('chain-watcher', 'GET /chains', json<ChainStatus[]>(), { access: 'viewer' });
