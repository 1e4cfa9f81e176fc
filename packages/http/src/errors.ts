import type { CreationBlockReason } from '@quittance/contracts/access.ts';
import { errorCodes, type ConflictCode } from '@quittance/contracts/error-code.ts';

/**
 * An error with an answer: thrown anywhere below a route, it becomes `status` with the body `{detail, code}`.
 * `detail` is public: a string, a list of validation items or an access code with its message. The cause stays in the log.
 * @param options.code what programs go by; that of the status unless it is given.
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

/** The body of every error, whoever answers it. */
export const errorBody = ({ detail, code }: Pick<HttpError, 'detail' | 'code'>): object => ({ detail, code });

/** The one code of a status. Several share 409 and 403; without one of them it is an answer to operators. */
function codeOf(status: number): string {
  const codes: Partial<Record<number, readonly string[]>> = errorCodes;
  const [code, ...others] = codes[status] ?? [];
  return code === undefined || others.length > 0 ? 'refused' : code;
}

/** 409: not possible in the present state. */
export const conflict = (code: ConflictCode, detail: string): HttpError => new HttpError(409, detail, {}, { code });

/** 403: the account may not create payments now. */
export const creationBlocked = (code: CreationBlockReason, message: string): HttpError =>
  new HttpError(403, { code, message }, {}, { code });

/** The answer whenever something needed is not there: the same request may succeed later. */
export function unavailable(cause?: unknown): HttpError {
  return new HttpError(503, 'Service temporarily unavailable', {}, { cause });
}

/** An error and its causes, outermost first; ten at most. */
export function causesOf(error: Error): Error[] {
  const chain = [error];
  for (let cause = error.cause; Error.isError(cause) && chain.length < 10; cause = cause.cause) chain.push(cause);
  return chain;
}

/** Names what is wrong with a request, field by field. */
export type ValidationItem = { field: string; reason: string };

/** 422 with every problem found. */
export function invalid(...items: ValidationItem[]): HttpError {
  return new HttpError(422, items);
}

/** The client went away before its request was complete: no answer can reach it. */
export class RequestAborted extends Error {
  constructor() {
    super('the client closed the connection before its request was complete');
    this.name = 'RequestAborted';
  }
}

/** The `detail` of an error for a person: it is a sentence, a code with its message, or a list of fields with reasons. */
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
