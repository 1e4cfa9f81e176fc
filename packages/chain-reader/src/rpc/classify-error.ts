import { RpcError, type RpcErrorKind, type SuggestedRange } from './errors.ts';

// The error texts of nodes and providers, by kind. test/classify-error.unit.test.ts lists the known texts. A text that is missing here is
// `unknown`: another endpoint is asked, and the scan does not advance.

/**
 * Classifies the error object of a JSON-RPC answer. Providers agree on hardly any code, so the text decides. The code decides only if the
 * text gives no hint.
 * @param hints.retryAfterMs from the HTTP header; null to look for it in the text.
 * @param hints.isAnswer whether it is the answer to a single call.
 */
export function classifyRpcError(
  method: string,
  code: number,
  message: string,
  hints: { retryAfterMs?: number | null; isAnswer?: boolean } = {},
): RpcError {
  const { retryAfterMs = null, isAnswer = false } = hints;
  const kind = kindOfText(method, message) ?? kindOfCode(method, code);
  return new RpcError(kind, kind === 'unknown' ? `${String(code)} ${message}` : message, {
    retryAfterMs: retryAfterMs ?? (kind === 'rate_limit' ? waitIn(message) : null),
    suggested: kind === 'range' ? suggestedRange(message) : null,
    isAnswer,
  });
}

/** Classifies an answer whose HTTP status is not 200. @param text the text of its error, if that could not be classified. */
export function classifyHttpStatus(
  status: number,
  retryAfterMs: number | null = null,
  { text = '', isAnswer = false }: { text?: string; isAnswer?: boolean } = {},
): RpcError {
  const message = text === '' ? `HTTP ${String(status)}` : `HTTP ${String(status)} ${text}`;
  return new RpcError(kindOfStatus(status), message, {
    retryAfterMs: retryAfterMs ?? (status === 402 ? PLAN_ENDED_MS : null),
    isAnswer,
  });
}

/** Classifies an error of the HTTP client. Only its code is kept, because its text may name the host. */
export function classifyTransportError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const { name, code } = error as { name?: string; code?: unknown };
  // The code of an expired deadline is a DOM number. The name is clearer.
  const label = typeof code === 'string' ? code : (name ?? 'unknown error');
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return new RpcError('range', 'the answer is too large');
  const isTimeout = name === 'TimeoutError' || /TIMEOUT|TIMEDOUT/.test(label);
  return new RpcError(isTimeout ? 'timeout' : 'unreachable', label);
}

function waitIn(text: string): number | null {
  return retryAfterIn(text) ?? (planEnded.test(text) ? PLAN_ENDED_MS : null);
}

/** What a code means by itself. Sources: EIP-1474, EIP-4444. Alchemy and others use 429 as in HTTP. */
function kindOfCode(method: string, code: number): RpcErrorKind {
  if (code === 4444) return 'unknown_block';
  if (code === 429) return 'rate_limit';
  if (code === -32005) return method === 'eth_getLogs' ? 'range' : 'rate_limit';
  if (code === -32601) return 'unsupported';
  return 'unknown';
}

function kindOfStatus(status: number): RpcErrorKind {
  if (status === 402 || status === 429) return 'rate_limit';
  if (status === 413) return 'batch_size';
  if (status === 401 || status === 403) return 'refused';
  if (status === 408 || status === 504 || status === 524) return 'timeout';
  return 'unreachable';
}

/**
 * The kind that an error's text names, or null.
 * Ranges are tested before rate limits, because several providers use "limit exceeded" for both. Missing blocks are tested before both:
 * "the block range extends beyond the head" does not mean that the range is too large.
 */
function kindOfText(method: string, text: string): RpcErrorKind | null {
  const matches = (patterns: readonly RegExp[]) => patterns.some((pattern) => pattern.test(text));
  if (matches(missingBlockTexts)) return 'unknown_block';
  if (matches(batchTexts) && !/rate|per second/i.test(text)) return 'batch_size';
  if (matches(rangeTexts) && !/invalid block range/i.test(text)) return 'range';
  if (method === 'eth_getLogs' && matches(slowQueryTexts)) return 'range';
  if (matches(rateLimitTexts)) return 'rate_limit';
  // A bare "limit exceeded" from eth_getLogs is about the answer's size. Asking for less is also the cheaper mistake.
  if (/limit exceeded/i.test(text)) return method === 'eth_getLogs' ? 'range' : 'rate_limit';
  // Before "block not found": a node without such a block does not offer the tag.
  if (matches(missingTagTexts)) return 'unsupported';
  if (matches(unknownBlockTexts)) return 'unknown_block';
  if (matches(refusedTexts)) return 'refused';
  if (matches(unsupportedTexts)) return 'unsupported';
  if (matches(timeoutTexts)) return 'timeout';
  return null;
}

/** Missing blocks, in words that would also match a range that is too large. */
const missingBlockTexts = [
  /pruned/i,
  /beyond (the )?(current|latest|chain)? ?(head|block)/i,
  /(block|range).{0,40}in the future/i,
  /archive (requests|data|node|access)/i,
];

const batchTexts = [
  /batch(es|ed)?.{0,60}(too (large|big|many)|exceed|limit|more than|not (allowed|supported))/i,
  /(exceed|too (large|many)|more than).{0,60}batch/i,
];

const rangeTexts = [
  /block range/i,
  /max(imum)? (block )?range/i,
  /exceed(s|ed)? (max |the )range/i,
  /limited to (a )?[\d,.]+k?( - [\d,.]+k?)? ?(block|range)/i,
  /ranges? over [\d,]+/i,
  /range (is |was )?(too|allowed|limit|exceed|threshold)/i,
  /range [\d,]+ (exceeds|is (bigger|larger|greater))/i,
  /(number of requested blocks|blocks distance|at most [\d,.]+k? blocks|smaller than size)/i,
  /(query|request) returned more than/i,
  /more than [\d,]+ (results|logs|blocks)/i,
  /too many (blocks|logs|results|topics|addresses)/i,
  /(exceeds?|exceeded) max (results|topics|logs|addresses)/i,
  /max (results|topics|logs)/i,
  /less number of address/i,
  /contains [\d,]+ filters/i,
  /(logs matched by query|query) exceeds limit/i,
  /result set too large/i,
  /response (is )?(too (large|big)|size|exceeds the limit)/i,
  /(request entity|content length|body).{0,40}(too (large|big)|exceed|limit)/i,
  /request is too big/i,
];

/** Queries that took the node too long, and would not for fewer blocks. */
const slowQueryTexts = [/query.{0,20}(timed? ?out|duration)/i];

/** A plan is used up for the rest of a day or a month, so asking again soon does not help. */
const PLAN_ENDED_MS = 60_000;
const planEnded = /payment required/i;

const rateLimitTexts = [
  planEnded,
  /rate.?limit/i,
  /request rate/i,
  /call rate/i,
  /too many (requests|connections|concurrent)/i,
  /concurrent requests/i,
  /requests? per (second|minute|day)/i,
  /\b(rps|cups?|qps)\b/i,
  /credits? limited to/i,
  /requests? limited to/i,
  /(compute units|throughput|capacity).{0,40}(capacity|exceeded|limit)/i,
  /request (count|limit|quota).{0,20}(exceeded|reached)/i,
  /(daily|monthly|usage|frequency|plan).{0,20}(limit|quota)/i,
  /max usage/i,
  /quota/i,
  /throttl/i,
  /allowed_rps|suspended for \d/i,
  /over(loaded| capacity)|too much load|server is busy/i,
  /reached the free tier/i,
  /lack of computing resources/i,
];

const unknownBlockTexts = [
  /unknown (block|header)|invalid block ?hash/i,
  /(block|header|receipt|entity|resource) (with .{0,80} )?(is )?(not found|not available)/i,
  /(cannot|could not) find (block|header)/i,
  /block (is )?out of range/i,
  /missing trie node|state (is )?not available|no state available/i,
  /(history|historical).{0,40}not available/i,
  /not yet (available|synced)/i,
  /failed to get logs for block/i,
  /blocks? specified in filter.{0,60}cannot be found/i,
];

const missingTagTexts = [/(finalized|safe|pending) block (is )?not (found|available)/i];

const refusedTexts = [
  /unauthori[sz]ed|forbidden|(access|permission) denied|not allowed to access/i,
  /api key|(invalid|missing) (key|token)|authenticat/i,
  /account (is )?(disabled|inactive|suspended)/i,
];

const unsupportedTexts = [
  /method.{0,60}(not (found|exist|supported|available|allowed|whitelisted)|does not exist|disabled)/i,
  /(not supported|unsupported|not included in your)/i,
  /invalid block (number|tag)/i,
  /specify (an )?address/i,
  // From nodes that do not know a tag and parse it as a number.
  /without 0x prefix|cannot unmarshal|invalid argument 0/i,
  /(finalized|safe|pending).{0,40}(not|invalid)/i,
];

const timeoutTexts = [/timed? ?out|deadline exceeded/i];

/**
 * The range that an error's text suggests.
 * @returns null when it names none.
 */
export function suggestedRange(text: string): SuggestedRange | null {
  const pair = hexPair.exec(text) ?? decimalPair.exec(text);
  if (pair !== null) {
    const [from, to] = [Number(pair[1]), Number(pair[2])];
    return Number.isSafeInteger(to) && from <= to ? { from, to } : null;
  }
  for (const pattern of blockCounts) {
    const [, digits = '', thousand] = pattern.exec(text) ?? [];
    const blocks = Number(digits.replace(/[,.]/g, '')) * (thousand === undefined ? 1 : 1000);
    if (Number.isSafeInteger(blocks) && blocks > 0) return { blocks };
  }
  return null;
}

/** How long a text asks us to wait, in milliseconds: "retry in 10s", "suspended for 5 s". Null when it names no time. */
export function retryAfterIn(text: string): number | null {
  for (const { pattern, unitMs } of waits) {
    const amount = Number(pattern.exec(text)?.[1] ?? Number.NaN);
    if (amount > 0) return Math.ceil(amount * unitMs);
  }
  return null;
}

/**
 * Reads a Retry-After header (RFC 9110, 10.2.3): seconds, or a date.
 * @returns milliseconds from now; null when the header is missing, invalid or means "now".
 */
export function parseRetryAfter(header: string | string[] | undefined, now: Date): number | null {
  const text = (Array.isArray(header) ? (header[0] ?? '') : (header ?? '')).trim();
  // Date.parse accepts far more than HTTP dates. Those begin with a weekday.
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) - now.getTime() : Number.NaN;
  const waitMs = /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) * 1000 : date;
  return waitMs > 0 ? waitMs : null;
}

const hexPair = /\[\s*(0x[0-9a-f]{1,14})\s*,\s*(0x[0-9a-f]{1,14})\s*\]/i;
const decimalPair = /retry with the range (\d{1,15})\s*-\s*(\d{1,15})/i;

/** Each matches a number, and perhaps a k for thousand. More specific patterns come first. */
const blockCounts = [
  /limited to (?:a )?(?:\d+ - )?(\d[\d,.]*)(k)? ?(?:block|range)/i,
  /up to a (\d[\d,.]*)(k)? block/i,
  /(?:at most|max(?:imum)?(?: allowed)? is|maximum is set to|requested blocks is) (\d[\d,.]*)(k)?/i,
  /max(?:imum)?(?: allowed)?(?: block)? range(?: limit)?(?: for eth_getLogs)?(?: is)?[:=]? ?(\d[\d,.]*)(k)?/i,
  /block range ?= ?\d+, max block range ?= ?(\d[\d,.]*)(k)?/i,
  /ranges over (\d[\d,.]*)(k)?/i,
  /range.{0,60}\(\d+ > (\d[\d,.]*)(k)?\)/i,
  /range.{0,60}(?:exceeds limit of|range limit|greater than|exceeds|maximum) (\d[\d,.]*)(k)?/i,
  /(?:blocks distance:|smaller than size) (\d[\d,.]*)(k)?/i,
];

const waits = [
  { pattern: /try_again_in\W{0,4}(\d{1,9}(?:\.\d+)?) ?ms/i, unitMs: 1 },
  { pattern: /backoff_seconds\W{1,4}(\d{1,9}(?:\.\d+)?)/i, unitMs: 1000 },
  { pattern: /(?:retry|try again|reset|suspended)\b.{0,20}?\b(?:in|after|for) (\d{1,9}(?:\.\d+)?) ?s/i, unitMs: 1000 },
];
