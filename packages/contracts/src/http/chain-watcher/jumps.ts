import { defineCall, json, object } from '../../call.ts';

/** The scan of a network goes on at a later block. What lies between is read only for the wallets that were watched. */
export type Jump = {
  jump_id: string;
  network: string;
  state: 'waiting' | 'done' | 'failed';
  /** The block that was asked for; null for the last final one. */
  to_block: number | null;
  /** The blocks that were left out, both ends included, and how many wallets have them read; null until it is done. */
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
 * Without `to_block` to the last final block; never beyond that one. The network's leader carries it out. 404 for an unknown network, 409 for
 * one that is halted, was never scanned or has a jump waiting, 422 for a block that is scanned already.
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
