import type { SuggestedRange } from './errors.ts';

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
 * @returns milliseconds from now; null when there is none, it makes no sense, or it is "now".
 */
export function parseRetryAfter(header: string | string[] | undefined, now: Date): number | null {
  const text = (Array.isArray(header) ? (header[0] ?? '') : (header ?? '')).trim();
  // Date.parse takes far more than HTTP dates; only the weekday form is one.
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) - now.getTime() : Number.NaN;
  const waitMs = /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) * 1000 : date;
  return waitMs > 0 ? waitMs : null;
}

const hexPair = /\[\s*(0x[0-9a-f]{1,14})\s*,\s*(0x[0-9a-f]{1,14})\s*\]/i;
const decimalPair = /retry with the range (\d{1,15})\s*-\s*(\d{1,15})/i;

/** The number, then perhaps a k for thousand. The narrower the wording, the earlier. */
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
