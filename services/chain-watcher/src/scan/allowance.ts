import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';

/**
 * How many blocks may be asked for at once, found out by asking: nodes limit the blocks of a range, the events of an answer and
 * the time it takes, each to its own number, and not all say which.
 */
export type Allowance = {
  /** Blocks to ask for next; at least 1. */
  size: number;
  readonly max: number;
  /** So many more successes before it grows again. */
  rest: number;
};

/** Growth after a success, as a divisor: 5 %. */
const GROWTH_DIVISOR = 20;
/** A limit that was met is tried again only now and then: right after, every second question would be refused. */
const REST_AFTER_REFUSAL = 50;

export function createAllowance(size: number, max: number): Allowance {
  return { size: Math.min(size, max), max, rest: 0 };
}

/** Call it after so much was answered. An answer to less than is allowed says nothing about more. */
export function granted(allowance: Allowance, asked: number): void {
  if (asked < allowance.size) return;
  if (allowance.rest > 0) allowance.rest -= 1;
  else
    allowance.size = Math.min(allowance.max, allowance.size + Math.max(1, Math.floor(allowance.size / GROWTH_DIVISOR)));
}

/**
 * Call it after so much was too much.
 * @param suggested what the node says would be fine; taken if it is less than what was asked, because nodes also say nonsense.
 */
export function refused(allowance: Allowance, asked: number, suggested: number | null = null): void {
  const isLess = suggested !== null && suggested >= 1 && suggested < asked;
  allowance.size = Math.max(1, isLess ? Math.floor(suggested) : Math.floor(asked / 2));
  allowance.rest = REST_AFTER_REFUSAL;
}

/** Whether less might have been answered. A node that is too slow for a range never says that it was too much. */
export const isTooMuch = (error: unknown): error is RpcError =>
  error instanceof RpcError && (error.kind === 'range' || error.kind === 'timeout');

/** How many blocks the node would answer for, as far as its error says. */
export function suggestedBlocks({ suggested }: RpcError): number | null {
  if (suggested === null) return null;
  return 'blocks' in suggested ? suggested.blocks : suggested.to - suggested.from + 1;
}
