import { defineCall, json } from '../../call.ts';
import { query } from '../../query.ts';

/** Due deliveries of a lane are counted only up to this number. */
export const LANE_DUE_MAX = 1_000;

/** A merchant's send queue. */
export type Lane = {
  merchant_id: string;
  /** What it contains: the merchant's PAID events, or its notices, which are events of other types. */
  events: 'paid' | 'notices';
  /** The endpoint's host; null before the merchant's first configuration, until which nothing is sent. */
  host: string | null;
  /**
   * The `address:port` in a private network to which WEBHOOK_PRIVATE_TARGETS maps the host; null for a public receiver.
   */
  private_target: string | null;
  /** Deliveries that are due and not being sent. At 0, nothing in the lane waits. */
  due: number;
  oldest_due_at: string | null;
  /** The account is blocked. */
  held: boolean;
  /** Failures since the last success, and since when. */
  failures: number;
  failing_since: string | null;
  /** The category of the last failure. It stays when the receiver recovers. */
  error_category: string | null;
  /** The state of the receiver's circuit breaker. `closed` is healthy; `half_open` while one probe is in flight. */
  circuit_state: 'closed' | 'open' | 'half_open' | 'recovering';
  /** When an open circuit may be probed, or when the lease of a half-open circuit's probe expires; otherwise null. */
  open_until: string | null;
  /** How often the circuit opened since it was last closed. */
  times_opened: number;
  /** How many attempts in flight each process allows while the circuit is recovering; otherwise null. */
  recovery_limit: number | null;
  /**
   * Set when deliveries are due and nothing is sent before this time: the circuit is open, or the host can't be
   * reached.
   */
  put_off_until: string | null;
};

/**
 * The hundred lanes that have waited longest, and how many lanes wait: those of blocked accounts with `held`, else the
 * others. With `merchant_id`, all lanes of that merchant.
 */
export const ListLanes = defineCall('webhook-dispatcher', 'GET /lanes', json<{ lanes: Lane[]; total: number }>(), {
  access: 'viewer',
  query: { held: query.oneOf('true', 'false'), merchant_id: query.text },
});
