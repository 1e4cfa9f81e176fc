import type { RpcErrorKind } from './errors.ts';

// The texts of nodes and providers, sorted. test/errors.unit.test.ts has what each of them is known to say; a text that is
// missing here is `unknown`, which asks another endpoint and never advances.

/**
 * What an error's text says, or null.
 * Ranges are looked for before rate limits, because several providers say "limit exceeded" of both. What a node does not have
 * comes before both: "the block range extends beyond the head" is no matter of the range's size.
 */
export function kindOfText(method: string, text: string): RpcErrorKind | null {
  const says = (patterns: readonly RegExp[]) => patterns.some((pattern) => pattern.test(text));
  if (says(missingBlockTexts)) return 'unknown_block';
  if (says(batchTexts) && !/rate|per second/i.test(text)) return 'batch_size';
  if (says(rangeTexts) && !/invalid block range/i.test(text)) return 'range';
  if (method === 'eth_getLogs' && says(slowQueryTexts)) return 'range';
  if (says(rateLimitTexts)) return 'rate_limit';
  // A bare "limit exceeded" from eth_getLogs is about the size of the answer; asking for less is also the cheaper mistake.
  if (/limit exceeded/i.test(text)) return method === 'eth_getLogs' ? 'range' : 'rate_limit';
  // Before "block not found": a node that has no such block yet does not offer the tag.
  if (says(missingTagTexts)) return 'unsupported';
  if (says(unknownBlockTexts)) return 'unknown_block';
  if (says(refusedTexts)) return 'refused';
  if (says(unsupportedTexts)) return 'unsupported';
  if (says(timeoutTexts)) return 'timeout';
  return null;
}

/** Blocks that the node does not have, in words that would also fit a range that is too large. */
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

/** Queries that took the node too long: over fewer blocks they would not have. */
const slowQueryTexts = [/query.{0,20}(timed? ?out|duration)/i];

const rateLimitTexts = [
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
  // What nodes that have never heard of a tag say: they take it for a number.
  /without 0x prefix|cannot unmarshal|invalid argument 0/i,
  /(finalized|safe|pending).{0,40}(not|invalid)/i,
];

const timeoutTexts = [/timed? ?out|deadline exceeded/i];
