import { defineCall, json, object } from '../../call.ts';
import { timestampSchema } from '../../timestamp.ts';
import { query } from '../../query.ts';

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

/**
 * A network's scanned and final heights. The final heights are null near genesis, and absent in answers of older
 * releases.
 */
export type NetworkTip = {
  network: string;
  /** The height of the last scanned block. */
  height: number;
  final_height?: number | null;
  /** The same for transfers above the network's `finalized_above_amount`. */
  large_final_height?: number | null;
  /**
   * Whether new transfers are not noticed at the moment: the network is halted, or has not been read up to its head for
   * a minute longer than normal. A network that is missing in the answer is unreadable too. Absent in answers of older
   * releases.
   */
  unreadable?: boolean;
};

/** `clock`: the time of chain-watcher's database, RFC 3339 UTC. Absent in answers of older releases. */
export type TipsResponse = { tips: NetworkTip[]; clock?: string };

/**
 * The last scanned block of every enabled network, from which confirmations are counted. A network without a scanned
 * block is left out; a halted one keeps its height. payments reads it every second while a payment waits for
 * confirmations.
 */
export const ReadTips = defineCall(
  'chain-watcher',
  'GET /tips',
  json<TipsResponse>({
    type: 'object',
    required: ['tips'],
    properties: {
      clock: timestampSchema,
      tips: {
        type: 'array',
        items: {
          type: 'object',
          required: ['network', 'height'],
          properties: {
            network: { type: 'string' },
            height: { type: 'integer', minimum: 0 },
            final_height: { type: ['integer', 'null'] },
            large_final_height: { type: ['integer', 'null'] },
            unreadable: { type: 'boolean' },
          },
        },
      },
    },
  }),
  { callers: ['payments'] },
);

/**
 * Continues the scan of a network at a later block. The blocks in between are read only for the wallets that were
 * watched.
 */
export type Jump = {
  jump_id: string;
  network: string;
  state: 'waiting' | 'done' | 'failed';
  /** The requested block; null for the last final one. */
  to_block: number | null;
  /** The skipped blocks, both ends included, and for how many wallets they are read; null until it is done. */
  left_from: number | null;
  left_through: number | null;
  wallets: number | null;
  error: string | null;
  actor: string;
  reason: string;
  requested_at: string;
  finished_at: string | null;
};

/**
 * Without `to_block`, jumps to the last final block; never beyond it. The network's leader does it. 404 for an unknown
 * network; 409 for one that is halted, was never scanned or has a waiting jump; 422 for a block that was already
 * scanned.
 */
export const CreateJump = defineCall('chain-watcher', 'POST /chains/:network/jumps', json<Jump>(), {
  authored: true,
  access: 'admin',
  body: object<{ to_block?: number | undefined }>(
    { to_block: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } },
    { optional: ['to_block'] },
  ),
  status: 201,
});

/** The newest hundred of a network. 404 for an unknown network. */
export const ListJumps = defineCall('chain-watcher', 'GET /chains/:network/jumps', json<{ jumps: Jump[] }>(), {
  access: 'viewer',
});

/** A halted network that was resumed. */
export type Resumption = {
  resumption_id: string;
  network: string;
  accept_fork: boolean;
  halted_at: string;
  resumed_at: string;
  actor: string;
  reason: string;
};

/**
 * Resumes a halted network. It halts again if its nodes still contradict what is final. With `accept_fork` it follows
 * them once, even below what had been final. 404 for an unknown network; 409 for one that is not halted.
 */
export const ResumeChain = defineCall('chain-watcher', 'POST /chains/:network/resume', json<Resumption>(), {
  authored: true,
  access: 'admin',
  body: object<{ accept_fork?: boolean }>({ accept_fork: { type: 'boolean' } }, { optional: ['accept_fork'] }),
});

/** An operator's action on a network. Jumps include those that the service itself decided on. */
export type OperatorAction = {
  at: string;
  network: string;
  action: 'resume' | 'accept_fork' | 'rescan' | 'jump' | 'resolve_incident';
  actor: string;
  reason: string;
  /** What it was about, and its result. */
  detail: Record<string, unknown>;
};

/** The newest hundred, of one network or of all. */
export const ListOperatorActions = defineCall(
  'chain-watcher',
  'GET /operator-actions',
  json<{ actions: OperatorAction[] }>(),
  { access: 'viewer', query: { network: query.text, before: query.timestamp } },
);
