/** What went wrong with a request to a node, as far as it decides what to do next. */
export type RpcErrorKind =
  /** Too much was asked at once: ask the same endpoint for less. */
  | 'range'
  /** Asked too often: leave this endpoint alone for a while. */
  | 'rate_limit'
  /** The node does not offer this method or block tag. */
  | 'unsupported'
  /** The node does not have this block: it lags, or has pruned it. */
  | 'unknown_block'
  /** No answer within the deadline. */
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

/** A failed request to a node. The message never holds the endpoint's URL, which may carry a key. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly kind: RpcErrorKind;

  constructor(kind: RpcErrorKind, message: string) {
    super(`${kind}: ${message.slice(0, 300)}`);
    this.kind = kind;
  }
}

/**
 * Sorts the error object of a JSON-RPC answer. Providers agree on hardly any code, so the text decides.
 * Range errors are looked for first, because several providers say "limit exceeded" for both and code -32005 means either.
 */
export function classifyRpcError(method: string, code: number, message: string): RpcError {
  if (rangeTexts.some((text) => text.test(message))) return new RpcError('range', message);
  if (rateLimitTexts.some((text) => text.test(message))) return new RpcError('rate_limit', message);
  // A bare "limit exceeded" from eth_getLogs is about the size of the answer; asking for less is also the cheaper mistake.
  if (/limit exceeded/i.test(message)) return new RpcError(method === 'eth_getLogs' ? 'range' : 'rate_limit', message);
  if (unknownBlockTexts.some((text) => text.test(message))) return new RpcError('unknown_block', message);
  if (code === -32601 || unsupportedTexts.some((text) => text.test(message)))
    return new RpcError('unsupported', message);
  return new RpcError('unknown', `${String(code)} ${message}`);
}

/** Sorts an answer whose HTTP status is not 200 and whose body is no JSON-RPC answer. */
export function classifyHttpStatus(status: number): RpcError {
  const message = `HTTP ${String(status)}`;
  if (status === 429) return new RpcError('rate_limit', message);
  if (status === 413) return new RpcError('range', message);
  if (status === 401 || status === 402 || status === 403) return new RpcError('refused', message);
  return new RpcError('unreachable', message);
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

const rangeTexts = [
  /block range/i,
  /max(imum)? (block )?range/i,
  /limited to a? ?[\d,.]+k? ?(block )?range/i,
  /ranges? over [\d,]+/i,
  /range (is )?(too|allowed|limit)/i,
  /(query|request) returned more than/i,
  /more than [\d,]+ (results|logs|blocks)/i,
  /too many (blocks|logs|results|topics)/i,
  /(exceeds?|exceeded) max (results|topics|logs)/i,
  /max (results|topics|logs)/i,
  /logs matched by query exceeds limit/i,
  /response (is )?(too (large|big)|size)/i,
  /(batch|request entity|content length|body).{0,40}(too (large|many)|exceed|limit)/i,
];

const rateLimitTexts = [
  /rate.?limit/i,
  /request rate/i,
  /too many requests/i,
  /(compute units|throughput).{0,40}(capacity|exceeded)/i,
  /request (count|limit|quota).{0,20}(exceeded|reached)/i,
  /(daily|monthly).{0,20}(limit|quota)/i,
  /throttl/i,
  /lack of computing resources/i,
];

const unknownBlockTexts = [
  /unknown block/i,
  /(block|header) (with .{0,80} )?(is )?not found/i,
  /missing trie node/i,
  /pruned/i,
  /(history|historical).{0,40}not available/i,
  /not yet (available|synced)/i,
];

const unsupportedTexts = [
  /method.{0,60}(not (found|exist|supported|available|allowed)|does not exist|disabled)/i,
  /(not supported|unsupported)/i,
  /invalid block (number|tag)/i,
  // What nodes that have never heard of a tag say: they take it for a number.
  /without 0x prefix|cannot unmarshal|invalid argument 0/i,
  /(finalized|safe|pending).{0,40}(not|invalid)/i,
];
