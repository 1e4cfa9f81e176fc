import { defineCall, json } from '../../call.ts';
import { query } from '../../query.ts';

/** Due deliveries of a lane are counted up to this. */
export const LANE_DUE_MAX = 1_000;

/** A merchant's send queue. */
export type Lane = {
  merchant_id: string;
  /** What waits in it: the merchant's PAID events, or its notices, which are events of other types. */
  events: 'paid' | 'notices';
  /** Of the endpoint; null before the merchant's first configuration, until which nothing is sent. */
  host: string | null;
  /** `address:port` in a private network that the host stands for, by WEBHOOK_PRIVATE_TARGETS; null for a public receiver. */
  private_target: string | null;
  /** Deliveries that are due and not being sent. Nothing in the lane waits while it is 0. */
  due: number;
  oldest_due_at: string | null;
  /** The account is blocked. */
  held: boolean;
  /** Failures since the last success, and since when. */
  failures: number;
  failing_since: string | null;
  /** Of the last failure; it stays when the receiver recovers. */
  error_category: string | null;
  /** Of the circuit to the receiver. `closed` is the healthy one; `half_open` while one probe is in flight. */
  circuit_state: 'closed' | 'open' | 'half_open' | 'recovering';
  /** When an open circuit may be probed, or the lease of the probe of a half-open one lapses; otherwise null. */
  open_until: string | null;
  /** How often the circuit opened since it was last closed. */
  times_opened: number;
  /** Attempts in flight that each process allows while the circuit is recovering; otherwise null. */
  recovery_limit: number | null;
  /** Something is due, and nothing is sent before this time: the circuit is open, or the host cannot be reached. */
  put_off_until: string | null;
};

/**
 * The hundred lanes that wait longest, and how many wait: those of blocked accounts with `held`, else the others. With `merchant_id`
 * that merchant's lanes alone, whether they wait or not.
 */
export const ListLanes = defineCall('webhook-dispatcher', 'GET /lanes', json<{ lanes: Lane[]; total: number }>(), {
  access: 'viewer',
  query: { held: query.oneOf('true', 'false'), merchant_id: query.text },
});
