/**
 * An error with an answer: thrown anywhere below a route, it becomes `status` with the body `{"detail": detail}`.
 * `detail` is public: a string, a list of validation items or an access code with its message. The cause stays in the log.
 */
export class HttpError extends Error {
  readonly status: number;
  readonly detail: unknown;
  readonly headers: Record<string, string>;
  constructor(status: number, detail: unknown, headers: Record<string, string> = {}, options?: ErrorOptions) {
    super(typeof detail === 'string' ? detail : `answered with ${status}`, options);
    this.name = 'HttpError';
    this.status = status;
    this.detail = detail;
    this.headers = headers;
  }
}

/** The answer whenever something needed is not there: the same request may succeed later. */
export function unavailable(cause?: unknown): HttpError {
  return new HttpError(503, 'Service temporarily unavailable', {}, { cause });
}

/** An error and its causes, outermost first; ten at most. */
export function causesOf(error: Error): Error[] {
  const chain = [error];
  for (let cause = error.cause; cause instanceof Error && chain.length < 10; cause = cause.cause) chain.push(cause);
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
