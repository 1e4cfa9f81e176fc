/** Why a request to a node failed, as far as it decides what to do next. */
export type RpcErrorKind =
  /** Too much was asked at once: ask the same endpoint for less. */
  | 'range'
  /** Too many calls in one batch. The provider sends smaller ones from then on, so that no caller sees it. */
  | 'batch_size'
  /** Asked too often: leave this endpoint alone for a while. */
  | 'rate_limit'
  /** Our own budget for this endpoint is used up for longer than a read waits. Nothing was sent. */
  | 'no_budget'
  /** The node does not answer this question, however little is asked: a method or block tag that it does not offer. */
  | 'unsupported'
  /** The node does not have this block: it lags, or has pruned it. */
  | 'unknown_block'
  /** No answer within the deadline, ours or the node's own. */
  | 'timeout'
  /** No connection, or an answer that reports the node down. */
  | 'unreachable'
  /** The node refuses us: a wrong key, a plan that has ended. */
  | 'refused'
  /** The answer is malformed, incomplete or contradicts itself. Nothing in it may be used. */
  | 'invalid_answer'
  /** The endpoint belongs to another chain. */
  | 'wrong_chain'
  /** Anything else. Treated like a broken endpoint: another one is asked, and nothing advances. */
  | 'unknown';

/** What a node offers to answer: these blocks, or this many at once. May be nonsense: check that it is less than was asked. */
export type SuggestedRange = { from: number; to: number } | { blocks: number };

/** What a provider adds to the error itself. */
type Hints = {
  /** How long it wants to be left alone, in milliseconds; null when it names no time. */
  retryAfterMs?: number | null;
  /** With kind `range`: what it would answer. A hint only, which may be no smaller than what was asked. */
  suggested?: SuggestedRange | null;
  /** Whether the node has answered so to this very call; otherwise nothing is known but that the exchange has failed. */
  isAnswer?: boolean;
};

const MAX_TEXT_CHARACTERS = 300;

/** A failed request to a node. The message never holds the endpoint's URL, which may carry a key. */
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
