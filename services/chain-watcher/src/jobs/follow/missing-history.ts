import { NEAR_HEAD_BLOCKS } from '@quittance/chain-reader/chain/poll.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { areMissing } from '../../reading/missing-blocks.ts';
import type { Position } from '../../term/position.ts';

/**
 * A node that lags lacks new blocks; one that lacks those far below the head keeps none so old.
 * @returns the error with what an operator can do about it, where that is so; else as it is.
 */
export function explainMissingHistory(error: unknown, network: string, { chain, heights }: Position): unknown {
  const tip = chain.tip().number;
  const isFarBehind = heights().head - tip > NEAR_HEAD_BLOCKS;
  if (!isFarBehind || !areMissing(error)) return error;
  const missing = `no endpoint shows what is in block ${String(tip + 1)} and those after it`;
  const proposal = `Add one that keeps them, or go on without: ops chain jump ${network} --reason '…'`;
  return new RpcError(error.kind, `${missing}. ${proposal} (${error.message})`);
}
