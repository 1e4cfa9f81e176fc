import { defineCall, json, object } from '../../call.ts';

/** A range of blocks that an operator wants to have read again. The network's leader reads it in the background. */
export type Rescan = {
  rescan_id: string;
  network: string;
  state: 'waiting' | 'running' | 'done' | 'failed';
  from_block: number | null;
  /** Its start as chain time, when no block was given. */
  since: string | null;
  to_block: number | null;
  /** Null until it runs. */
  next_block: number | null;
  /** Transfers that were missing in the ledger. */
  found: number;
  error: string | null;
  actor: string;
  reason: string;
  requested_at: string;
  finished_at: string | null;
};

/**
 * Both ends are included. Give exactly one of `from_block` and `since`. Without `to_block` it ends at the last final
 * block.
 */
export type RescanRange = {
  from_block?: number | undefined;
  since?: string | undefined;
  to_block?: number | undefined;
};

const height = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

/** 404 for an unknown network; 422 for an invalid range. Rescanning the same blocks again changes nothing. */
export const CreateRescan = defineCall('chain-watcher', 'POST /chains/:network/rescans', json<Rescan>(), {
  authored: true,
  access: 'admin',
  body: object<RescanRange>(
    { from_block: height, since: { type: 'string' }, to_block: height },
    { optional: ['from_block', 'since', 'to_block'] },
  ),
  status: 201,
});

/** The newest hundred of a network. 404 for an unknown network. */
export const ListRescans = defineCall('chain-watcher', 'GET /chains/:network/rescans', json<{ rescans: Rescan[] }>(), {
  access: 'viewer',
});
