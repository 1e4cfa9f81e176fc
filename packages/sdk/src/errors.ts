import type { AccessCode, DocumentedErrorCode, ValidationItem } from './types.ts';

/**
 * The kind of an error, for programs. Those of the API, and three of this library: `no_answer` if no attempt was answered,
 * `unreadable_answer` if the answer is not the API's, `aborted` if the caller's signal ended the call.
 */
export type ErrorCode =
  | DocumentedErrorCode
  | AccessCode
  | 'invalid_request'
  | 'rate_limited'
  | 'unavailable'
  | 'no_answer'
  | 'unreadable_answer'
  | 'aborted';

type ErrorFacts = {
  code: ErrorCode;
  message: string;
  status?: number;
  invalidFields?: readonly ValidationItem[];
  retryAfterMs?: number;
  requestId?: string;
  idempotencyKey?: string;
  cause?: unknown;
};

/** A failed call. `code` decides what to do; the message is for people and may change. */
export class QuittanceError extends Error {
  readonly code: ErrorCode;
  /** The HTTP status of the last answer; null without an answer. */
  readonly status: number | null;
  /** The invalid fields of the input; empty unless `code` is `invalid_request`. */
  readonly invalidFields: readonly ValidationItem[];
  /** How long the server asks to wait, in milliseconds; null if it does not say. */
  readonly retryAfterMs: number | null;
  /** Identifies the request in the operator's logs; null without an answer. */
  readonly requestId: string | null;
  /** Set for a creation: repeat the call with this key, and no second payment is created. */
  readonly idempotencyKey: string | null;

  constructor(facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'QuittanceError';
    this.code = facts.code;
    this.status = facts.status ?? null;
    this.invalidFields = facts.invalidFields ?? [];
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.requestId = facts.requestId ?? null;
    this.idempotencyKey = facts.idempotencyKey ?? null;
  }
}

/**
 * The error for an answer. Its body may be anything: an edge or a proxy may answer with a page.
 * @param body as text.
 */
export function errorOf(response: Response, body: string, idempotencyKey: string | undefined): QuittanceError {
  const parsed = readJson(body);
  const detail = parsed?.['detail'];
  const retryAfterMs = retryAfter(response);
  const requestId = response.headers.get('x-request-id');
  return new QuittanceError({
    code: typeof parsed?.['code'] === 'string' ? (parsed['code'] as ErrorCode) : codeOfStatus(response.status),
    message: `${response.status}: ${textOf(detail) ?? (response.statusText || 'no explanation')}`,
    status: response.status,
    ...(Array.isArray(detail) && { invalidFields: detail as ValidationItem[] }),
    ...(retryAfterMs !== null && { retryAfterMs }),
    ...(requestId !== null && { requestId }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
}

export function readJson(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** `Retry-After` in milliseconds, from seconds or from a date. */
function retryAfter({ headers }: Response): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

function textOf(detail: unknown): string | null {
  if (typeof detail === 'string') return detail;
  if (Array.isArray(detail)) {
    return (detail as ValidationItem[]).map(({ field, reason }) => `${field} ${reason}`).join('; ');
  }
  const message = (detail as { message?: unknown } | null | undefined)?.message;
  return typeof message === 'string' ? message : null;
}

/** For answers without a code: the page of an edge, or of a proxy in between. */
function codeOfStatus(status: number): ErrorCode {
  if (status === 401) return 'unauthorized';
  if (status === 404) return 'not_found';
  if (status === 429) return 'rate_limited';
  if (status === 502 || status === 503 || status === 504) return 'unavailable';
  return status >= 500 ? 'internal_error' : 'unreadable_answer';
}
