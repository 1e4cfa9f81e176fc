import { errorOf, QuittanceError, readJson } from './errors.ts';

export type TransportOptions = {
  baseUrl: string;
  fetch: typeof fetch;
  timeoutMs: number;
  maxRetries: number;
  maxRetryDelayMs: number;
};

export type CallOptions = {
  /** Ends the call, its retries included. */
  signal?: AbortSignal;
};

export type ApiRequest = {
  method: 'GET' | 'POST' | 'PUT';
  /** Encoded, below the base URL. */
  path: string;
  query?: Readonly<Record<string, string | number | undefined>>;
  headers?: Readonly<Record<string, string>>;
  json?: unknown;
  /** Whether doing it twice is the same as once: then it is also repeated when an attempt got no answer. */
  isIdempotent: boolean;
};

/** The first pause; each further one is twice as long. */
const FIRST_DELAY_MS = 250;

/**
 * Makes a request and repeats it where that is safe: after 429 and 503 always, for then nothing was done, and after no answer when the
 * request is idempotent. The pause grows, varies, and is at least what `Retry-After` asks for.
 * @returns the answer, a success, with its body unread.
 * @throws QuittanceError for any other answer, and when no attempt was answered.
 */
export async function request(options: TransportOptions, asked: ApiRequest, call: CallOptions): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await once(options, asked, call);
    if (outcome instanceof Response) return outcome;
    const delayMs = Math.max(outcome.retryAfterMs ?? 0, FIRST_DELAY_MS * 2 ** attempt * (0.75 + Math.random() / 2));
    const isLast = attempt >= options.maxRetries || delayMs > options.maxRetryDelayMs;
    if (isLast || !mayRepeat(outcome, asked)) throw outcome;
    await pause(delayMs, call.signal).catch((cause: unknown) => {
      throw aborted(asked, cause);
    });
  }
}

/** @throws QuittanceError `unreadable_answer` for a body that is no JSON object. */
export async function readAnswer<T>(response: Response): Promise<T> {
  const text = await response.text();
  const body = readJson(text);
  if (body !== null) return body as T;
  throw new QuittanceError({
    code: 'unreadable_answer',
    message: `${response.status}: the answer is no JSON object, so it is not the API's; is the base URL right?`,
    status: response.status,
  });
}

async function once(
  { baseUrl, fetch, timeoutMs }: TransportOptions,
  asked: ApiRequest,
  { signal }: CallOptions,
): Promise<Response | QuittanceError> {
  const { method, path, query = {}, headers = {}, json } = asked;
  const url = new URL(baseUrl + path);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  const timeout = new AbortController();
  // Of the beginning of the answer: an export may take as long as it takes.
  const timer = setTimeout(() => timeout.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  const idempotencyKey = headers['Idempotency-Key'];
  try {
    const response = await fetch(url, {
      method,
      headers: {
        Accept: 'application/json',
        ...headers,
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      redirect: 'manual',
      signal: signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]),
    });
    return response.ok ? response : errorOf(response, await response.text(), idempotencyKey);
  } catch (cause) {
    if (signal?.aborted === true) throw aborted(asked, cause);
    const reason = timeout.signal.aborted ? (timeout.signal.reason as Error).message : (cause as Error).message;
    return new QuittanceError({
      code: 'no_answer',
      message: `${method} ${path}: ${reason}`,
      cause,
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
  } finally {
    clearTimeout(timer);
  }
}

function mayRepeat({ code, status }: QuittanceError, { isIdempotent }: ApiRequest): boolean {
  if (code === 'no_answer') return isIdempotent;
  // An edge that lost the service on the way answers 503 as well, so only repeating is safe, never believing that nothing happened.
  return status === 429 || (status === 503 && isIdempotent);
}

function aborted({ method, path, headers }: ApiRequest, cause: unknown): QuittanceError {
  const idempotencyKey = headers?.['Idempotency-Key'];
  return new QuittanceError({
    code: 'aborted',
    message: `${method} ${path} was aborted`,
    cause,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
  });
}
