import type { WebhookEvent } from './types.ts';
import {
  isFetchHeaders,
  readSignedHeaders,
  verifyWebhook,
  WebhookConfigurationError,
  WebhookVerificationError,
  type RequestHeaders,
  type SigningKeys,
  type VerificationProblem,
} from './webhook.ts';

export type ReceiverOptions = {
  /** By id. Use a function if they are stored elsewhere and change while the process runs. */
  keys: SigningKeys | (() => SigningKeys | Promise<SigningKeys>);
  /**
   * Does the work of an event, once for each `event_id`: save both in one transaction, because an event arrives again when an answer gets
   * lost. When it resolves, the event is confirmed; when it throws, the event is sent again later.
   */
  onEvent: (event: WebhookEvent) => Promise<void> | void;
  /**
   * Called with every error: of a request that fails verification, of `onEvent`, and of wrong keys (WebhookConfigurationError). Without
   * `onError`, only wrong keys are logged to the console.
   */
  onError?: (error: unknown) => void;
};

/** The largest event has less than 10 KiB. */
const MAX_BODY_BYTES = 64 * 1024;

/** For every Fetch API server: Hono, Next.js route handlers, Deno, Bun, Cloudflare Workers. */
export function fetchReceiver(options: ReceiverOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const readBody = () => fetchedBody(request);
    const { status, headers } = await receive(options, { method: request.method, headers: request.headers, readBody });
    return new Response(null, { status, headers });
  };
}

/** The used parts of Node's and Express's requests. */
export type NodeRequest = AsyncIterable<Uint8Array> & {
  method?: string | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Set by a parser: `express.raw()` keeps the bytes, others leave nothing to verify. */
  body?: unknown;
};
export type NodeResponse = {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(): unknown;
};

/** For Express, and for Node's own HTTP server. It needs the raw body: mount it before `express.json()`. */
export function nodeReceiver(
  options: ReceiverOptions,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  return async (request, response) => {
    const readBody = () => nodeBody(request);
    const { status, headers } = await receive(options, { method: request.method, headers: request.headers, readBody });
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.statusCode = status;
    response.end();
  };
}

type Incoming = {
  method: string | undefined;
  headers: RequestHeaders;
  /** @returns null if the body is longer than the limit. */
  readBody: () => Promise<Uint8Array | null>;
};
type Reply = { status: number; headers: Record<string, string> };

/** Checks method, length and headers before it reads the body, and never holds more than 64 KiB of it. */
async function receive(options: ReceiverOptions, { method, headers, readBody }: Incoming): Promise<Reply> {
  const { keys, onEvent, onError = reportConfiguration } = options;
  const size = announcedSize(headers);
  /** To reuse the connection, the server reads and discards the rest of a body. This avoids that for a body that may never end. */
  const unread = size === 'small' ? {} : closing;
  if (method !== 'POST') return { status: 405, headers: { Allow: 'POST', ...unread } };
  if (size === 'large') return { status: 413, headers: closing };
  let isRead = false;
  try {
    readSignedHeaders(headers);
    const body = await readBody();
    if (body === null) return { status: 413, headers: closing };
    isRead = true;
    const event = await verifyWebhook(body, headers, typeof keys === 'function' ? await keys() : keys);
    await onEvent(event);
    return { status: 204, headers: {} };
  } catch (error) {
    onError(error);
    const status = error instanceof WebhookVerificationError ? statusOf(error.problem) : 500;
    return { status, headers: isRead ? {} : unread };
  }
}

const closing = { Connection: 'close' };

/** The size that the headers declare. Reading is limited anyway, because the length may be wrong. */
function announcedSize(headers: RequestHeaders): 'small' | 'large' | 'unknown' {
  const text = (name: string): string => [isFetchHeaders(headers) ? headers.get(name) : headers[name]].flat().join();
  if (Number(text('content-length')) > MAX_BODY_BYTES) return 'large';
  return text('transfer-encoding') === '' ? 'small' : 'unknown';
}

/** A wrong clock, or a key that this side does not have yet, is not the request's fault: it is sent again. */
const statusOf = (problem: VerificationProblem): number =>
  problem === 'timestamp_out_of_tolerance' || problem === 'key_unknown' ? 401 : 400;

/** Every event is refused until a person notices. */
function reportConfiguration(error: unknown): void {
  // oxlint-disable-next-line no-console -- no other code would report it.
  if (error instanceof WebhookConfigurationError) console.error(error);
}

/** @throws TypeError if other code has read the bytes. */
async function fetchedBody(request: Request): Promise<Uint8Array | null> {
  if (request.bodyUsed) throw new TypeError('the raw body is gone: call the receiver before anything reads the body');
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  try {
    return await joined(() => reader.read());
  } finally {
    // Not cancelled: on some servers that closes the connection before the answer is sent.
    reader.releaseLock();
  }
}

/** @throws TypeError if a parser has read the bytes. */
async function nodeBody(request: NodeRequest): Promise<Uint8Array | null> {
  const { body } = request;
  if (body instanceof Uint8Array || typeof body === 'string') {
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    return bytes.length > MAX_BODY_BYTES ? null : bytes;
  }
  if (body !== undefined) throw new TypeError('the raw body is gone: mount the receiver before express.json()');
  // Not `for await`: leaving it early destroys the request, and with it the connection, before the answer is sent.
  const chunks = request[Symbol.asyncIterator]();
  return joined(() => chunks.next());
}

type Chunk = { done?: boolean | undefined; value?: Uint8Array | undefined };

/** @returns null as soon as there is more than the limit. */
async function joined(next: () => Promise<Chunk>): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await next();
    if (done === true || value === undefined) break;
    length += value.length;
    if (length > MAX_BODY_BYTES) return null;
    chunks.push(value);
  }
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}
