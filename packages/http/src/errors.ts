import type { CreationBlockReason } from '@quittance/contracts/access.ts';
import { errorCodes, type ConflictCode } from '@quittance/contracts/error-code.ts';

/**
 * An error with an HTTP answer. Thrown anywhere below a route, it becomes `status` with the body `{detail, code}`.
 * `detail` is public: a string, a list of validation items, or an access code with its message. The cause appears only
 * in the log.
 * @param options.code for programs; by default the code of the status.
 */
export class HttpError extends Error {
  readonly status: number;
  readonly detail: unknown;
  readonly headers: Record<string, string>;
  readonly code: string;
  constructor(
    status: number,
    detail: unknown,
    headers: Record<string, string> = {},
    { code = codeOf(status), ...options }: ErrorOptions & { code?: string } = {},
  ) {
    super(typeof detail === 'string' ? detail : `answered with ${status}`, options);
    this.name = 'HttpError';
    this.status = status;
    this.detail = detail;
    this.headers = headers;
    this.code = code;
  }
}

/** The body of every error. */
export const errorBody = ({ detail, code }: Pick<HttpError, 'detail' | 'code'>): object => ({ detail, code });

/**
 * The code of a status. 409 and 403 have several codes; without an explicit one, the answer is for operators. The first code of 503 is for
 * everything but its reason of its own.
 */
function codeOf(status: number): string {
  const codes: Partial<Record<number, readonly string[]>> = errorCodes;
  const [code, ...others] = codes[status] ?? [];
  return code === undefined || (others.length > 0 && status !== 503) ? 'refused' : code;
}

/** 409: not possible in the current state. */
export const conflict = (code: ConflictCode, detail: string): HttpError => new HttpError(409, detail, {}, { code });

/** 403: the account may not create payments now. */
export const creationBlocked = (code: CreationBlockReason, message: string): HttpError =>
  new HttpError(403, { code, message }, {}, { code });

/** 503: something that the request needs is missing. The same request may succeed later. */
export function unavailable(cause?: unknown): HttpError {
  return new HttpError(503, 'Service temporarily unavailable', {}, { cause });
}

/** 503: no current rate converts the price. */
export const rateUnavailable = (): HttpError =>
  new HttpError(503, 'No current rate for this currency: try again later', {}, { code: 'rate_unavailable' });

/** An error and its causes, outermost first; ten at most. */
export function causesOf(error: Error): Error[] {
  const chain = [error];
  for (let cause = error.cause; Error.isError(cause) && chain.length < 10; cause = cause.cause) chain.push(cause);
  return chain;
}

/** One invalid field of a request, and the reason. */
export type ValidationItem = { field: string; reason: string };

/** 422 with every problem found. */
export function invalid(...items: ValidationItem[]): HttpError {
  return new HttpError(422, items);
}

/** The client closed the connection before its request was complete, so no answer can reach it. */
export class RequestAborted extends Error {
  constructor() {
    super('the client closed the connection before its request was complete');
    this.name = 'RequestAborted';
  }
}

/**
 * The `detail` of an error as text for people. It is a sentence, a code with its message, or a list of fields with
 * reasons.
 */
export function detailText(detail: unknown): string {
  if (typeof detail === 'string') return detail;
  if (Array.isArray(detail)) {
    return (detail as { field?: unknown; reason?: unknown }[])
      .map((item) => `${String(item.field)} ${String(item.reason)}`)
      .join('; ');
  }
  const message = (detail as { message?: unknown } | null | undefined)?.message;
  return typeof message === 'string' ? message : 'no reason given';
}
