import type { WebhookEvent } from './types.ts';
import {
  verifyWebhook,
  WebhookVerificationError,
  type RequestHeaders,
  type SigningKeys,
  type VerificationProblem,
} from './webhook.ts';

export type ReceiverOptions = {
  /** By id; a function where they are kept elsewhere and change while the process runs. */
  keys: SigningKeys | (() => SigningKeys | Promise<SigningKeys>);
  /**
   * Does what is due, once for each `event_id`: save both in one transaction, for an event comes again when an answer gets lost. When it
   * resolves, the event is answered as received; when it throws, it comes again later.
   */
  onEvent: (event: WebhookEvent) => Promise<void> | void;
  /** Told of requests that are not to be believed, and of errors of `onEvent`. */
  onError?: (error: unknown) => void;
};

/** Events are a few hundred bytes; metadata at most 4 KiB. */
const MAX_BODY_BYTES = 64 * 1024;

/** For everything that speaks the Fetch API: Hono, Next.js route handlers, Deno, Bun, Cloudflare Workers. */
export function fetchReceiver(options: ReceiverOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { Allow: 'POST' } });
    const readBody = async () => new Uint8Array(await request.arrayBuffer());
    return new Response(null, { status: await receive(options, readBody, request.headers) });
  };
}

/** What of Node's and Express's requests is used. */
export type NodeRequest = AsyncIterable<Uint8Array> & {
  method?: string | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Where a parser has been: `express.raw()` leaves the bytes, others leave nothing to verify. */
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
    if (request.method !== 'POST') {
      response.setHeader('Allow', 'POST');
      response.statusCode = 405;
    } else {
      response.statusCode = await receive(options, () => rawBodyOf(request), request.headers);
    }
    response.end();
  };
}

/** @param readBody gives at most a little more than the longest body. @returns the status to answer. */
async function receive(
  { keys, onEvent, onError = () => undefined }: ReceiverOptions,
  readBody: () => Promise<Uint8Array | string>,
  headers: RequestHeaders,
): Promise<number> {
  try {
    const body = await readBody();
    if (body.length > MAX_BODY_BYTES) return 413;
    const event = await verifyWebhook(body, headers, typeof keys === 'function' ? await keys() : keys);
    await onEvent(event);
    return 204;
  } catch (error) {
    onError(error);
    return error instanceof WebhookVerificationError ? statusOf(error.problem) : 500;
  }
}

/** A clock that is wrong, or a key that this side does not know yet, is no fault of the request: it comes again. */
const statusOf = (problem: VerificationProblem): number =>
  problem === 'timestamp_out_of_tolerance' || problem === 'key_unknown' ? 401 : 400;

/** Stops reading once it is too long. @throws TypeError where a parser has taken the bytes. */
async function rawBodyOf(request: NodeRequest): Promise<Uint8Array | string> {
  const { body } = request;
  if (body instanceof Uint8Array || typeof body === 'string') return body;
  if (body !== undefined) throw new TypeError('the raw body is gone: mount the receiver before express.json()');
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    chunks.push(chunk);
    if (length > MAX_BODY_BYTES) break;
  }
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}
