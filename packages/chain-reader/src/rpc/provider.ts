import {
  JsonRpcApiProvider,
  Network,
  type JsonRpcError,
  type JsonRpcPayload,
  type JsonRpcResult,
} from 'ethers/providers';
import { Pool, type Dispatcher } from 'undici';
import { classifyHttpStatus, classifyRpcError, classifyTransportError, parseRetryAfter } from './classify-error.ts';
import {
  answersTo,
  bareFailure,
  failureIn,
  parseJson,
  readText,
  textOf,
  type Answer,
  type RpcFailure,
} from './envelope.ts';
import { provenHeader, type HeaderAnswer } from '../receipts/header.ts';
import { RpcError, type RpcErrorKind } from './errors.ts';
import type { Budget } from './throttle.ts';

/** Requests in the same turn of the event loop are sent as one JSON-RPC batch of at most this many. Tron nodes accept no more. */
export const MAX_BATCH_REQUESTS = 100;

const CONNECTIONS_PER_ENDPOINT = 4;
const MAX_BATCH_BYTES = 1024 * 1024;
const MIN_SECRET_CHARACTERS = 6;
/** Enough of an error's text to classify it. */
const MAX_TEXT_CHARACTERS = 2_000;

export type RpcProviderOptions = {
  /** Position of the endpoint in the networks file, from 0. */
  endpoint: number;
  /** http(s), possibly with a key in its path, query or user info. Never logged. */
  url: string;
  /** Headers of every request, by lowercase name. Never logged. */
  headers: Record<string, string>;
  chainId: number;
  /** Deadline of one HTTP exchange. It includes connecting and reading, but not the wait for budget before it. */
  timeoutMs: number;
  /** Limit for one answer, both compressed and decompressed. */
  maxResponseBytes: number;
  budget: Pick<Budget, 'burst' | 'take'>;
  /** Called after every HTTP exchange, with the methods of the calls in it. */
  onExchange(outcome: 'ok' | RpcErrorKind, durationSeconds: number, methods: readonly string[]): void;
  /** Called with every block that the node reports as its head, unparsed. */
  onHead(head: unknown): void;
  /** Whether the hash of a block proves its header. If so, a header without its hash is refused. */
  isProven: boolean;
  /** Called with what the node said, when a block's hash or its receipts prove that it is false. */
  onFalse(what: string): void;
};

/**
 * ethers' JSON-RPC provider on our own transport: pooled connections, one deadline, a size limit, strict envelopes.
 * ethers' own transport decodes large answers 5–14 times slower. Use only `send()`: ethers' typed calls refuse Tron's blocks.
 * Every rejection is an RpcError.
 *
 * A batch is sent as one request, unless it is larger than the node or our budget allows. Then it is sent in parts, and behind a load
 * balancer two parts may reach two nodes.
 */
export class RpcProvider extends JsonRpcApiProvider {
  /** Position in the networks file, from 0. */
  readonly endpoint: number;
  readonly #options: RpcProviderOptions;
  readonly #pool: Pool;
  readonly #path: string;
  readonly #headers: Record<string, string>;
  readonly #secrets: string[];
  /** Shrinks to what the node accepts. It never grows again, because a node's limit hardly changes between our restarts. */
  #maxBatch: number;

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
    this.#headers = {
      'accept-encoding': 'gzip',
      ...authorization(url),
      ...options.headers,
      'content-type': 'application/json',
    };
    this.#secrets = secretsOf(url, options.headers);
    this.#maxBatch = Math.min(MAX_BATCH_REQUESTS, options.budget.burst);
    this.#pool = new Pool(url.origin, {
      connections: CONNECTIONS_PER_ENDPOINT,
      allowH2: false,
      connect: { timeout: options.timeoutMs },
      keepAliveTimeout: 30_000,
      maxResponseSize: options.maxResponseBytes,
    });
  }

  /** @throws RpcError */
  override async send(method: string, params: unknown[] | Record<string, unknown>): Promise<unknown> {
    try {
      const result: unknown = await super.send(method, params);
      if (this.#options.isProven && (method === 'eth_getBlockByNumber' || method === 'eth_getBlockByHash'))
        this.#requireOwnHash(result);
      if (method === 'eth_getBlockByNumber' && Array.isArray(params) && params[0] === 'latest')
        this.#options.onHead(result);
      return result;
    } catch (error) {
      if (error instanceof RpcError) throw error;
      // ethers throws its own errors for requests that it never sent.
      throw this.destroyed ? new RpcError('unreachable', 'the endpoint is closed') : classifyTransportError(error);
    }
  }

  /**
   * Records an answer that is proved to be false.
   * @returns the error to throw, unless the truth is known.
   */
  disproved(what: string): RpcError {
    this.#options.onFalse(what);
    return new RpcError('invalid_answer', what);
  }

  /** @throws RpcError `invalid_answer` for a block whose header does not have the hash that it states. */
  #requireOwnHash(block: unknown): void {
    if (typeof block !== 'object' || block === null || !('hash' in block && 'parentHash' in block)) return;
    const header: HeaderAnswer = { ...block };
    if (provenHeader(header) === null)
      throw this.disproved(`the header of block ${String(header['number'])} does not have its hash`);
  }

  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<(JsonRpcResult | JsonRpcError)[]> {
    const calls = [payload].flat();
    const answers: (JsonRpcResult | JsonRpcError)[] = [];
    while (answers.length < calls.length) {
      const size = Math.min(this.#maxBatch, calls.length);
      const parts = inParts(calls.slice(answers.length, answers.length + size * CONNECTIONS_PER_ENDPOINT), size);
      try {
        answers.push(...(await Promise.all(parts.map((part) => this.#sendPart(part)))).flat());
      } catch (error) {
        if (!(error instanceof RpcError) || error.kind !== 'batch_size') throw error;
        if (size === 1) throw new RpcError('range', error.message);
        // Another batch may have found a smaller limit in the meantime.
        this.#maxBatch = Math.min(this.#maxBatch, Math.floor(size / 2));
      }
    }
    return answers;
  }

  /** Called by ethers for an answer that carries an error. */
  override getRpcError(payload: JsonRpcPayload, answer: JsonRpcError): Error {
    return this.#classify([payload], answer.error as RpcFailure, { isAnswer: true });
  }

  /** Drops the connections and fails the requests in progress. */
  override destroy(): void {
    void this.#pool.destroy();
    super.destroy();
  }

  async #sendPart(calls: readonly JsonRpcPayload[]): Promise<(JsonRpcResult | JsonRpcError)[]> {
    await this.#options.budget.take(calls.length);
    const startedAt = performance.now();
    const methods = calls.map(({ method }) => method);
    const finish = (outcome: 'ok' | RpcErrorKind) =>
      this.#options.onExchange(outcome, (performance.now() - startedAt) / 1000, methods);
    try {
      const answers = await this.#exchange(calls);
      finish('ok');
      return answers;
    } catch (error) {
      const rpcError = classifyTransportError(error);
      finish(rpcError.kind);
      throw rpcError;
    }
  }

  async #exchange(calls: readonly JsonRpcPayload[]): Promise<(JsonRpcResult | JsonRpcError)[]> {
    const { statusCode, headers, body } = await this.#pool.request({
      method: 'POST',
      path: this.#path,
      headers: this.#headers,
      body: JSON.stringify(calls.length === 1 ? calls[0] : calls),
      signal: AbortSignal.timeout(this.#options.timeoutMs),
    });
    const answer = parseJson(await readText(body, headers['content-encoding'], this.#options.maxResponseBytes));
    if (statusCode !== 200) throw this.#classifyStatus(calls, statusCode, headers, answer);
    const answers = answersTo(calls, answer);
    // A node may also refuse a batch that is too large by an error in each of its entries.
    const refusal = calls.length > 1 ? this.#batchRefusal(calls, answers ?? []) : undefined;
    if (refusal !== undefined) throw refusal;
    if (answers !== null) return answers;
    const failure = failureIn(answer);
    if (failure !== null) throw this.#classify(calls, failure, { isAnswer: calls.length === 1 });
    throw new RpcError('invalid_answer', 'the body is not a JSON-RPC answer to the request');
  }

  #batchRefusal(calls: readonly JsonRpcPayload[], answers: readonly Answer[]): RpcError | undefined {
    const failures = answers.flatMap((answer) => ('error' in answer ? [answer.error] : []));
    return failures.map((failure) => this.#classify(calls, failure)).find(({ kind }) => kind === 'batch_size');
  }

  /** The body of a failure often says more than its status, but it may not be JSON-RPC. */
  #classifyStatus(
    calls: readonly JsonRpcPayload[],
    status: number,
    headers: Dispatcher.ResponseData['headers'],
    answer: unknown,
  ): RpcError {
    const mayTell = status === 402 || status === 429 || status === 503;
    const retryAfterMs = mayTell ? parseRetryAfter(headers['retry-after'], new Date()) : null;
    const failure = failureIn(answer) ?? bareFailure(answer);
    if (failure === null) return classifyHttpStatus(status, retryAfterMs);
    const isAnswer = calls.length === 1;
    const error = this.#classify(calls, failure, { retryAfterMs, isAnswer });
    // Status 402 means that the plan is used up, regardless of the text.
    const isPlain = status === 402 || error.kind === 'unknown';
    const text = this.#redact(textOf(failure));
    return isPlain ? classifyHttpStatus(status, retryAfterMs, { text, isAnswer }) : error;
  }

  #classify(
    calls: readonly JsonRpcPayload[],
    failure: RpcFailure,
    hints: Parameters<typeof classifyRpcError>[3] = {},
  ): RpcError {
    const call = calls.find(({ method }) => method === 'eth_getLogs') ?? calls[0];
    const error = classifyRpcError(call?.method ?? '', failure.code, this.#redact(textOf(failure)), hints);
    if (error.kind !== 'range' || calls.length > 1 || !isSingleBlock(call)) return error;
    // One block cannot be split. This node does not answer the query at all, but another one may.
    return new RpcError('unsupported', error.message, { isAnswer: error.isAnswer });
  }

  /** Cuts the text after redacting it, so that no part of a key is left. */
  #redact(text: string): string {
    const shown = this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text);
    return shown.slice(0, MAX_TEXT_CHARACTERS);
  }
}

function inParts<T>(list: readonly T[], size: number): T[][] {
  const count = Math.ceil(list.length / size);
  return Array.from({ length: count }, (_, part) => list.slice(part * size, (part + 1) * size));
}

function isSingleBlock(call: JsonRpcPayload | undefined): boolean {
  const { method, params } = call ?? {};
  const [filter] = Array.isArray(params) ? (params as unknown[]) : [];
  if (method !== 'eth_getLogs' || typeof filter !== 'object' || filter === null) return false;
  const { blockHash, fromBlock, toBlock } = filter as Record<string, unknown>;
  return blockHash !== undefined || fromBlock === toBlock;
}

function authorization(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

/** The parts of a URL and of headers that may be a key. Providers often repeat them in their error texts. */
function secretsOf(url: URL, headers: Record<string, string>): string[] {
  const ofHeaders = Object.values(headers).flatMap((value) => value.split(/[\s,;=]+/));
  const parts = [url.username, url.password, ...url.pathname.split('/'), ...url.searchParams.values(), ...ofHeaders];
  return parts.filter((part) => part.length >= MIN_SECRET_CHARACTERS);
}
