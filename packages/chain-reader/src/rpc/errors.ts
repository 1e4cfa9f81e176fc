/** Why a request to a node failed. This decides what to do next. */
export type RpcErrorKind =
  /** Too much was asked at once: ask the same endpoint for less. */
  | 'range'
  /** Too many calls in one batch. The provider then sends smaller ones, so no caller sees this error. */
  | 'batch_size'
  /** Asked too often: do not ask this endpoint for a while. */
  | 'rate_limit'
  /** A read would have to wait too long for our own budget for this endpoint. Nothing was sent. */
  | 'no_budget'
  /** The node does not answer this question at any size: it does not offer the method or block tag. */
  | 'unsupported'
  /** The node does not have this block: it lags, or has pruned it. */
  | 'unknown_block'
  /** No answer within the deadline, ours or the node's own. */
  | 'timeout'
  /** No connection, or an answer that reports the node down. */
  | 'unreachable'
  /** The node refuses us: a wrong key, a plan that has ended. */
  | 'refused'
  /** The answer is malformed, incomplete or contradicts itself. Nothing of it may be used. */
  | 'invalid_answer'
  /** The endpoint belongs to another chain. */
  | 'wrong_chain'
  /** Anything else. Treated like a broken endpoint: another one is asked, and the scan does not advance. */
  | 'unknown';

/** What a node offers to answer: these blocks, or this many at once. Check that it is less than was asked: it may be nonsense. */
export type SuggestedRange = { from: number; to: number } | { blocks: number };

/** What a provider says in addition to the error. */
type Hints = {
  /** How long to wait before asking again, in milliseconds; null when it names no time. */
  retryAfterMs?: number | null;
  /** With kind `range`: what it would answer. Only a hint, which may not be smaller than the request. */
  suggested?: SuggestedRange | null;
  /** Whether this is the node's answer to this call; otherwise only the exchange is known to have failed. */
  isAnswer?: boolean;
};

const MAX_TEXT_CHARACTERS = 300;

/** A failed request to a node. The message never contains the endpoint's URL, which may hold a key. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly kind: RpcErrorKind;
  readonly retryAfterMs: number | null;
  readonly suggested: SuggestedRange | null;
  readonly isAnswer: boolean;

  constructor(
    kind: RpcErrorKind,
    message: string,
    { retryAfterMs = null, suggested = null, isAnswer = false }: Hints = {},
  ) {
    super(`${kind}: ${message.slice(0, MAX_TEXT_CHARACTERS)}`);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
    this.suggested = suggested;
    this.isAnswer = isAnswer;
  }
}

/** @returns null instead of an RpcError. */
export const nullIfFailed = <T>(answer: Promise<T>): Promise<T | null> =>
  answer.catch((error: unknown) => {
    if (error instanceof RpcError) return null;
    throw error;
  });

/** A node that is too slow for a range times out. One that refuses every range may answer about single blocks. */
const TOO_MUCH: readonly RpcErrorKind[] = ['range', 'timeout', 'unsupported'];

/** Whether a request for fewer blocks may succeed. */
export const isTooMuch = (error: unknown): error is RpcError =>
  error instanceof RpcError && TOO_MUCH.includes(error.kind);

/** How many blocks the node says that it would answer: at least 1, and perhaps as many as were requested; null when it does not say. */
export function suggestedBlocks(suggested: SuggestedRange | null): number | null {
  if (suggested === null) return null;
  const blocks = 'blocks' in suggested ? suggested.blocks : suggested.to - suggested.from + 1;
  return blocks >= 1 ? blocks : null;
}
