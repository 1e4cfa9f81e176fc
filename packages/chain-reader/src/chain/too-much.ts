import { RpcError, type RpcErrorKind, type SuggestedRange } from '../rpc/errors.ts';

/** A node that is too slow for a range only times out, and one that answers no range at all answers about single blocks. */
const TOO_MUCH: readonly RpcErrorKind[] = ['range', 'timeout', 'unsupported'];

/** Whether fewer blocks may be answered where these were not. */
export const isTooMuch = (error: unknown): error is RpcError =>
  error instanceof RpcError && TOO_MUCH.includes(error.kind);

/** How many blocks the node would answer, by its own words: at least 1, and perhaps no fewer than were asked; null when it names none. */
export function suggestedBlocks(suggested: SuggestedRange | null): number | null {
  if (suggested === null) return null;
  const blocks = 'blocks' in suggested ? suggested.blocks : suggested.to - suggested.from + 1;
  return blocks >= 1 ? blocks : null;
}
