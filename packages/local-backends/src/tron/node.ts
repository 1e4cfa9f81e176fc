import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answersOf, MAX_BATCH, MAX_RESULTS, Refusal, type TronOptions, type TronState } from './answers.ts';

/** A node that answers like a Tron network's full node, with the blocks of a local Ethereum chain. */
export type TronNode = {
  url: string;
  /** HTTP requests so far. */
  requests(): number;
  /** Every method called so far, in order. */
  methods: readonly string[];
  /** The event index begins at this height. A search by address or topic silently finds nothing in older blocks. */
  indexesFrom(height: number): void;
  /** Treats these transactions as failed: their receipts say so and still contain the events, and so do searches. */
  fail(...hashes: string[]): void;
  /** Whether it names a final block. */
  namesFinal(names: boolean): void;
  /** Refuses every search with more results than this. */
  limitResults(results: number): void;
  /** Refuses every n-th request because of missing resources; 0 for none. */
  refuseEvery(n: number): void;
  close(): Promise<void>;
};

export type TronNodeOptions = TronOptions & {
  /** Its port on 127.0.0.1. Default: any free port. */
  port?: number;
  /** false for nodes from before the `finalized` tag, which read the word as a malformed number. */
  hasFinalized?: boolean;
};

type Call = { id: number; method: string; params?: unknown[] };

/**
 * Behaves like java-tron, with a local chain: its limits, its error texts, its empty headers and its silently
 * incomplete answers.
 * Sources: java-tron's services/jsonrpc, and https://tronprotocol.github.io/documentation-en/api/json-rpc/.
 */
export async function startTronNode(options: TronNodeOptions): Promise<TronNode> {
  const state: TronState = {
    hasFinalized: options.hasFinalized ?? true,
    failed: new Set(),
    indexedFrom: 0,
    maxResults: MAX_RESULTS,
    refusedEvery: 0,
  };
  const answers = answersOf(options, state);
  const methods: string[] = [];
  let requests = 0;

  async function answer({ id, method, params = [] }: Call): Promise<object> {
    methods.push(method);
    try {
      const handle = answers[method];
      if (handle === undefined) throw new Refusal(-32601, 'method not found');
      return { jsonrpc: '2.0', id, result: await handle(...params) };
    } catch (error) {
      if (error instanceof Refusal) return { jsonrpc: '2.0', id, error: error.error };
      throw error;
    }
  }

  async function respond(request: IncomingMessage): Promise<unknown> {
    const calls = JSON.parse(await readText(request)) as Call | Call[];
    requests += 1;
    if (state.refusedEvery > 0 && requests % state.refusedEvery === 0)
      return { Error: 'class java.lang.IllegalAccessException : lack of computing resources' };
    if (!Array.isArray(calls)) return answer(calls);
    if (calls.length <= MAX_BATCH) return Promise.all(calls.map(answer));
    const message = `Batch size ${calls.length} exceeds the limit of ${MAX_BATCH}`;
    return { jsonrpc: '2.0', error: { code: -32005, message }, id: null };
  }

  // The status is 200 even for errors.
  const server = createServer((request, response) => {
    respond(request).then(
      (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      () => request.socket.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jsonrpc`,
    requests: () => requests,
    methods,
    ...switchesOf(state),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function switchesOf(
  state: TronState,
): Pick<TronNode, 'indexesFrom' | 'fail' | 'namesFinal' | 'limitResults' | 'refuseEvery'> {
  return {
    indexesFrom: (height) => {
      state.indexedFrom = height;
    },
    fail: (...hashes) => hashes.forEach((hash) => state.failed.add(hash)),
    namesFinal: (names) => {
      state.hasFinalized = names;
    },
    limitResults: (results) => {
      state.maxResults = results;
    },
    refuseEvery: (n) => {
      state.refusedEvery = n;
    },
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
