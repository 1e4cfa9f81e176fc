import { defineCall, json, object } from '../../call.ts';

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
