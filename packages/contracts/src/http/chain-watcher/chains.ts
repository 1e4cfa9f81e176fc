import { defineCall, json } from '../../call.ts';

/** The progress of a network's scan. Heights are null before the first start. */
export type ChainStatus = {
  network: string;
  /** The newest block at the time of the scan's last read. */
  head: number | null;
  /**
   * The newest block that the endpoints have recently shown this process, independent of the scan. Absent in answers of
   * older releases.
   */
  endpoint_head?: number | null;
  /** The last block that the chain itself calls final. */
  finalized: number | null;
  /** The last block whose transfers may be confirmed. */
  final: number | null;
  /** The last block that was scanned and stored. */
  cursor: number | null;
  cursor_timestamp: string | null;
  /** Counted from the higher of both heads. */
  lag_blocks: number | null;
  /** Age of the last scanned block. */
  lag_seconds: number | null;
  scanned_through: string | null;
  /** The last block that was read a second time. */
  audited: number | null;
  confirmations_required: number;
  watched_wallets: number;
  /** No payment waits on the network, so it is read once a minute. */
  asleep: boolean;
  back_fills_waiting: number;
  open_incidents: number;
  halted_at: string | null;
  halt_reason: string | null;
  /**
   * Why the scan could not continue at its last try, as a sentence; null when it could, and when another replica is the
   * leader.
   */
  scan_error?: string | null;
  /** The process that answers, and whether it is the one that scans. `endpoints` is its own view. */
  replica: string;
  leader: boolean;
  /** Its clock minus the database's; null until the first comparison. */
  clock_difference_seconds: number | null;
  /**
   * The timestamp of the newest block minus the database's clock when the leader read the block. Above 0, the chain's
   * clock is ahead by at least that much; below 0, it is behind by at most that much. Null when another replica is the
   * leader.
   */
  chain_clock_difference_seconds: number | null;
  endpoints: EndpointStatus[];
};

/** The state of one node of a network, as a replica sees it. */
export type EndpointStatus = {
  /** Position in the networks file, from 0. The URL is never shown, because it may contain a key. */
  endpoint: number;
  /**
   * The state of its circuit breaker; `closed` is healthy. `cooling_down`: it refused requests because there were too
   * many.
   */
  state: 'closed' | 'open' | 'half_open' | 'cooling_down' | 'lagging';
  head: number | null;
  head_lag_blocks: number;
  latency_ms: { p50: number; p95: number } | null;
  requests: number;
  /** Failed reads so far, by cause. */
  failures: Record<string, number>;
  last_error: string | null;
  last_error_at: string | null;
  cooldown_until: string | null;
  /**
   * Use of the provider's daily plan, over all replicas; null if the networks file has none, absent from earlier
   * releases.
   */
  budget?: {
    day_ends_at: string;
    requests: { used: number; limit: number } | null;
    /** In the provider's units. */
    units: { used: number; limit: number } | null;
    /** Whether more has been used than is planned for this time of day. Reads then wait. */
    slowed: boolean;
  } | null;
};

/** Every enabled network. */
export const ReadChains = defineCall('chain-watcher', 'GET /chains', json<ChainStatus[]>(), { access: 'viewer' });
