import { kindOfText } from './error-texts.ts';
import { retryAfterIn, suggestedRange, type SuggestedRange } from './error-hints.ts';

/** What went wrong with a request to a node, as far as it decides what to do next. */
export type RpcErrorKind =
  /** Too much was asked at once: ask the same endpoint for less. */
  | 'range'
  /** Too many calls in one batch. The provider sends smaller ones from then on, so that nobody else sees it. */
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
  /** No connection, or an answer that says the node is down. */
  | 'unreachable'
  /** The node refuses us: a wrong key, a plan that has ended. */
  | 'refused'
  /** The answer is malformed, incomplete or contradicts itself. Nothing in it may be believed. */
  | 'invalid_answer'
  /** The endpoint belongs to another chain. */
  | 'wrong_chain'
  /** Anything else. Treated like a broken endpoint: another one is asked, and nothing advances. */
  | 'unknown';

/** What a provider says beside the error itself. */
type Hints = {
  /** How long it wants to be left alone, in milliseconds; null when it does not say. */
  retryAfterMs?: number | null;
  /** With kind `range`: what it would answer. A hint only, which may be no smaller than what was asked. */
  suggested?: SuggestedRange | null;
};

const MAX_TEXT_CHARACTERS = 300;

/** A failed request to a node. The message never holds the endpoint's URL, which may carry a key. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly kind: RpcErrorKind;
  readonly retryAfterMs: number | null;
  readonly suggested: SuggestedRange | null;

  constructor(kind: RpcErrorKind, message: string, { retryAfterMs = null, suggested = null }: Hints = {}) {
    super(`${kind}: ${message.slice(0, MAX_TEXT_CHARACTERS)}`);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
    this.suggested = suggested;
  }
}

/**
 * Sorts the error object of a JSON-RPC answer. Providers agree on hardly any code, so the text decides, and the code only
 * where the text says nothing.
 * @param retryAfterMs what the HTTP header said; null to look for it in the text.
 */
export function classifyRpcError(
  method: string,
  code: number,
  message: string,
  retryAfterMs: number | null = null,
): RpcError {
  const kind = kindOfText(method, message) ?? kindOfCode(method, code);
  return new RpcError(kind, kind === 'unknown' ? `${String(code)} ${message}` : message, {
    retryAfterMs: retryAfterMs ?? (kind === 'rate_limit' ? retryAfterIn(message) : null),
    suggested: kind === 'range' ? suggestedRange(message) : null,
  });
}

/** Sorts an answer whose HTTP status is not 200. @param text what its body said, when that alone is no answer. */
export function classifyHttpStatus(status: number, retryAfterMs: number | null = null, text = ''): RpcError {
  const message = text === '' ? `HTTP ${String(status)}` : `HTTP ${String(status)} ${text}`;
  return new RpcError(kindOfStatus(status), message, { retryAfterMs });
}

/** Sorts what the HTTP client throws. Only its code is kept: its text may name the host. */
export function classifyTransportError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const { name, code } = error as { name?: string; code?: unknown };
  // The code of an expired deadline is a number of the DOM; the name says more.
  const label = typeof code === 'string' ? code : (name ?? 'unknown error');
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return new RpcError('range', 'the answer is larger than we read');
  const isTimeout = name === 'TimeoutError' || /TIMEOUT|TIMEDOUT/.test(label);
  return new RpcError(isTimeout ? 'timeout' : 'unreachable', label);
}

/** What a code means by itself. Sources: EIP-1474, EIP-4444; 429 is Alchemy's and others' copy of the HTTP status. */
function kindOfCode(method: string, code: number): RpcErrorKind {
  if (code === 4444) return 'unknown_block';
  if (code === 429) return 'rate_limit';
  if (code === -32005) return method === 'eth_getLogs' ? 'range' : 'rate_limit';
  if (code === -32601) return 'unsupported';
  return 'unknown';
}

function kindOfStatus(status: number): RpcErrorKind {
  if (status === 429) return 'rate_limit';
  if (status === 413) return 'batch_size';
  if (status === 401 || status === 402 || status === 403) return 'refused';
  if (status === 408 || status === 504 || status === 524) return 'timeout';
  return 'unreachable';
}
