import { JsonRpcApiProvider, Network, type JsonRpcError, type JsonRpcPayload, type JsonRpcResult } from 'ethers';
import { Pool } from 'undici';
import { RpcError, classifyHttpStatus, classifyRpcError, classifyTransportError, type RpcErrorKind } from './errors.ts';

/** Requests made in the same turn of the event loop travel as one JSON-RPC batch of at most this many. Tron nodes take no more. */
export const MAX_BATCH_REQUESTS = 100;

const CONNECTIONS_PER_ENDPOINT = 4;
const MAX_BATCH_BYTES = 1024 * 1024;
const MIN_SECRET_CHARACTERS = 6;

export type RpcProviderOptions = {
  /** Position of the endpoint in the networks file, from 0. */
  endpoint: number;
  /** The endpoint, http(s), possibly with a key in its path, query or user info. Never logged. */
  url: string;
  chainId: number;
  /** Deadline of one HTTP exchange, connecting and reading included. */
  timeoutMs: number;
  maxResponseBytes: number;
  /** Told of every HTTP exchange. */
  observe(outcome: 'ok' | RpcErrorKind, durationSeconds: number): void;
};

/**
 * ethers' JSON-RPC provider on a transport of our own: pooled connections, one deadline, a bounded answer, strict envelopes.
 * ethers' own transport decodes large answers 5–14 times slower. Use `send()` only: ethers' typed calls refuse Tron's blocks.
 * Every error it rejects with is an RpcError.
 */
export class RpcProvider extends JsonRpcApiProvider {
  /** Position in the networks file, from 0. */
  readonly endpoint: number;
  readonly #options: RpcProviderOptions;
  readonly #pool: Pool;
  readonly #path: string;
  readonly #headers: Record<string, string>;
  readonly #secrets: string[];
  readonly #closing = new AbortController();

  constructor(options: RpcProviderOptions) {
    const network = Network.from(options.chainId);
    super(network, {
      staticNetwork: network,
      batchStallTime: 0,
      batchMaxCount: MAX_BATCH_REQUESTS,
      batchMaxSize: MAX_BATCH_BYTES,
    });
    const url = new URL(options.url);
    this.endpoint = options.endpoint;
    this.#options = options;
    this.#path = url.pathname + url.search;
    this.#headers = { 'content-type': 'application/json', ...authorization(url) };
    this.#secrets = secretsOf(url);
    this.#pool = new Pool(url.origin, {
      connections: CONNECTIONS_PER_ENDPOINT,
      allowH2: false,
      connect: { timeout: options.timeoutMs },
      keepAliveTimeout: 30_000,
    });
  }

  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<(JsonRpcResult | JsonRpcError)[]> {
    const startedAt = performance.now();
    const finish = (outcome: 'ok' | RpcErrorKind) =>
      this.#options.observe(outcome, (performance.now() - startedAt) / 1000);
    try {
      const answers = await this.#exchange(payload);
      finish('ok');
      return answers;
    } catch (error) {
      const rpcError = classifyTransportError(error);
      finish(rpcError.kind);
      throw rpcError;
    }
  }

  /** Called by ethers for an answer that carries an error. */
  override getRpcError(payload: JsonRpcPayload, answer: JsonRpcError): Error {
    return this.#classify(payload.method, answer.error);
  }

  /** Drops the connections and fails what is in flight. */
  override destroy(): void {
    this.#closing.abort();
    void this.#pool.destroy();
    super.destroy();
  }

  async #exchange(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<(JsonRpcResult | JsonRpcError)[]> {
    const response = await this.#pool.request({
      method: 'POST',
      path: this.#path,
      headers: this.#headers,
      body: JSON.stringify(payload),
      signal: AbortSignal.any([AbortSignal.timeout(this.#options.timeoutMs), this.#closing.signal]),
    });
    const body = parseJson(await this.#readBounded(response.body));
    if (Array.isArray(payload) && Array.isArray(body)) return body.map(envelope);
    if (isObject(body)) {
      // Some nodes answer a whole batch with one error, and some (Tron) with HTTP 200 and a capital "Error".
      const failure = body['error'] ?? body['Error'] ?? null;
      if (failure !== null && (Array.isArray(payload) || typeof body['id'] !== 'number')) {
        throw this.#classify(Array.isArray(payload) ? 'batch' : payload.method, failure);
      }
      if (!Array.isArray(payload) && response.statusCode === 200) return [envelope(body)];
    }
    if (response.statusCode !== 200) throw classifyHttpStatus(response.statusCode);
    throw new RpcError('invalid_answer', 'the body is no JSON-RPC answer');
  }

  async #readBounded(body: AsyncIterable<Buffer>): Promise<string> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > this.#options.maxResponseBytes) throw new RpcError('range', 'the answer is larger than we read');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, size).toString('utf8');
  }

  #classify(method: string, failure: unknown): RpcError {
    const { code, message } = isObject(failure) ? failure : { code: 0, message: failure };
    const text = this.#secrets.reduce((shown, secret) => shown.replaceAll(secret, '[redacted]'), String(message));
    return classifyRpcError(method, typeof code === 'number' ? code : 0, text);
  }
}

/** An answer must carry an id and either a result or an error, or ethers would take `undefined` for a result. */
function envelope(answer: unknown): JsonRpcResult | JsonRpcError {
  if (isObject(answer) && typeof answer['id'] === 'number') {
    if (isObject(answer['error'])) return answer as JsonRpcError;
    if ('result' in answer) return answer as JsonRpcResult;
  }
  throw new RpcError('invalid_answer', 'an entry of the answer has neither a result nor an error');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function authorization(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

/** The parts of a URL that may be a key. Providers like to repeat them in their error texts. */
function secretsOf(url: URL): string[] {
  const parts = [url.username, url.password, ...url.pathname.split('/'), ...url.searchParams.values()];
  return parts.filter((part) => part.length >= MIN_SECRET_CHARACTERS);
}
