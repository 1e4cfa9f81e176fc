import { errorOf, QuittanceError, readJson } from './errors.ts';

export type TransportOptions = {
  baseUrl: string;
  fetch: typeof fetch;
  timeoutMs: number;
  maxRetries: number;
  maxRetryDelayMs: number;
};

export type CallOptions = {
  /** Aborts the call, including its retries. */
  signal?: AbortSignal;
};

export type ApiRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Encoded, below the base URL. */
  path: string;
  query?: Readonly<Record<string, string | number | undefined>>;
  headers?: Readonly<Record<string, string>>;
  json?: unknown;
  /** Whether repeating it has no further effect. If so, it is also repeated when an attempt got no answer. */
  isIdempotent: boolean;
};

/** The first pause; each later one is twice as long. */
const FIRST_DELAY_MS = 250;

/**
 * Makes a request and repeats it if that is safe: after 429 always, because nothing was done, and after 503 or without a complete answer if
 * the request is idempotent. The pause grows, varies, and is at least as long as `Retry-After`.
 * @returns the answer's JSON. @throws QuittanceError for any other answer, and when no attempt was answered completely and in time.
 */
export async function request<T>(options: TransportOptions, asked: ApiRequest, call: CallOptions): Promise<T> {
  const { status, text } = await repeated(options, asked, call, async ({ response }) => ({
    status: response.status,
    text: await response.text(),
  }));
  const body = readJson(text);
  if (body !== null) return body as T;
  throw new QuittanceError({
    code: 'unreadable_answer',
    message: `${status}: the answer is not a JSON object, so it is not the API's; is the base URL right?`,
    status,
  });
}

/**
 * The same for an answer of any duration. It is repeated only until the answer begins.
 * @returns its bytes. Reading fails with a QuittanceError when the connection breaks, or no data arrive for as long as an attempt may take.
 */
export function requestStream(
  options: TransportOptions,
  asked: ApiRequest,
  call: CallOptions,
): Promise<ReadableStream<Uint8Array>> {
  return repeated(options, asked, call, async (attempt) => watchedBody(attempt));
}

/** One request and its answer, until it is read. */
type Attempt = {
  response: Response;
  /** Runs what must finish within the time limit. @throws QuittanceError `no_answer` or `aborted` when it fails. */
  inTime: <T>(work: () => Promise<T>) => Promise<T>;
};

async function repeated<T>(
  options: TransportOptions,
  asked: ApiRequest,
  call: CallOptions,
  read: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await once(options, asked, call, read).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if ('value' in outcome) return outcome.value;
    const { error } = outcome;
    if (!(error instanceof QuittanceError)) throw error;
    const delayMs = Math.max(error.retryAfterMs ?? 0, FIRST_DELAY_MS * 2 ** attempt * (0.75 + Math.random() / 2));
    const isLast = attempt >= options.maxRetries || delayMs > options.maxRetryDelayMs;
    if (isLast || !mayRepeat(error, asked)) throw error;
    await pause(delayMs, call.signal).catch((cause: unknown) => {
      throw failure(asked, 'aborted', 'was aborted', cause);
    });
  }
}

async function once<T>(
  { baseUrl, fetch, timeoutMs }: TransportOptions,
  asked: ApiRequest,
  { signal }: CallOptions,
  read: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  const { method, path, query = {}, headers = {}, json } = asked;
  const url = new URL(baseUrl + path);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  const timeout = new AbortController();
  const inTime: Attempt['inTime'] = async (work) => {
    const timer = setTimeout(() => timeout.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof QuittanceError) throw cause;
      if (signal?.aborted === true) throw failure(asked, 'aborted', 'was aborted', cause);
      const reason = timeout.signal.aborted ? (timeout.signal.reason as Error) : (cause as Error);
      throw failure(asked, 'no_answer', reason.message, cause);
    } finally {
      clearTimeout(timer);
    }
  };
  return inTime(async () => {
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
    if (response.ok) return read({ response, inTime });
    throw errorOf(response, await response.text(), headers['Idempotency-Key']);
  });
}

/** The time limit applies while waiting for data, not while the reader does something else. */
function watchedBody({ response, inTime }: Attempt): ReadableStream<Uint8Array> {
  const reader = response.body?.getReader();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const piece = await inTime(async () => reader?.read());
        if (piece?.value === undefined) controller.close();
        else controller.enqueue(piece.value);
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function mayRepeat({ code, status }: QuittanceError, { isIdempotent }: ApiRequest): boolean {
  if (code === 'no_answer') return isIdempotent;
  // An edge that lost the connection to the service also answers 503, so the request may have had an effect. Only repeating an idempotent
  // one is safe.
  return status === 429 || (status === 503 && isIdempotent);
}

function failure(asked: ApiRequest, code: 'aborted' | 'no_answer', reason: string, cause: unknown): QuittanceError {
  const { method, path, headers } = asked;
  const idempotencyKey = headers?.['Idempotency-Key'];
  return new QuittanceError({
    code,
    message: `${method} ${path}: ${reason}`,
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
