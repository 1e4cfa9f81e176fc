import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Call = { id: number; method: string; params: unknown[] };
export type Answer = { id: number; result?: unknown; error?: { code: number; message: string } };

type Reply = { status: number; body: string; headers?: Record<string, string> };

/** A node that forwards calls to a real one and falsifies the answers as a test wants. */
export type MisbehavingNode = {
  url: string;
  /** HTTP requests so far. */
  requests(): number;
  /** Every call so far. */
  calls(): readonly Call[];
  /** Changes each answer of the real node; undefined leaves it unchanged. */
  spoil(change: ((call: Call, answer: Answer) => Partial<Answer> | undefined) | null): void;
  /** Answers every request with this, or drops the connection. */
  replaceAll(reply: Reply | 'drop' | null): void;
  /** Answers some requests, each with all its calls, with this. `stall`: never answers. */
  refuse(choose: ((calls: readonly Call[]) => Reply | 'drop' | 'stall' | undefined) | null): void;
  /** Behaves like a replica that is this many blocks behind. */
  lag(blocks: number): void;
  close(): Promise<void>;
};

export async function misbehavingNode({ rpcUrl }: { rpcUrl: string }): Promise<MisbehavingNode> {
  let change: ((call: Call, answer: Answer) => Partial<Answer> | undefined) | null = null;
  let refusal: ((calls: readonly Call[]) => Reply | 'drop' | 'stall' | undefined) | null = null;
  let lagBlocks = 0;
  let requests = 0;
  const asked: Call[] = [];

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests += 1;
    const calls = JSON.parse(await readText(request)) as Call | Call[];
    const instead = refusal?.([calls].flat());
    if (instead === 'stall') return;
    if (instead === 'drop') throw new Error('the connection is dropped');
    if (instead !== undefined) {
      reply(response, instead);
      return;
    }
    asked.push(...[calls].flat());
    const found = await askAll(rpcUrl, await Promise.all([calls].flat().map(behind)));
    const answers = [calls].flat().map((call, position): Answer => {
      const answer = found[position] ?? { id: call.id };
      const changed = change?.(call, answer);
      // The real node may not have what is shown.
      return changed?.result === undefined ? { ...answer, ...changed } : { id: answer.id, ...changed };
    });
    reply(response, { status: 200, body: JSON.stringify(Array.isArray(calls) ? answers : answers[0]) });
  }

  /** Changes a call about the head, or beyond it, to what a lagging replica would understand. */
  async function behind(call: Call): Promise<Call> {
    if (lagBlocks === 0 || call.method !== 'eth_getBlockByNumber') return call;
    const { result } = await ask(rpcUrl, { id: 0, method: 'eth_blockNumber', params: [] });
    const head = Number(result) - lagBlocks;
    const asked = call.params[0] === 'latest' ? head : Number(call.params[0]);
    if (Number.isNaN(asked)) return call;
    // A height that doesn't exist yet is answered with null.
    return { ...call, params: [`0x${(asked > head ? 0xffff_ffff : asked).toString(16)}`, false] };
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/a-secret-key`,
    requests: () => requests,
    calls: () => asked,
    spoil: (next) => {
      change = next;
    },
    replaceAll: (next) => {
      refusal = next === null ? null : () => next;
    },
    refuse: (next) => {
      refusal = next;
    },
    lag: (blocks) => {
      lagBlocks = blocks;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Sends one call to a node and returns its unchanged answer. */
async function ask(url: string, call: Call): Promise<Answer> {
  const [answer] = await askAll(url, [call]);
  if (answer === undefined) throw new Error(`the node does not answer ${call.method}`);
  return answer;
}

/** Sends calls in one batch. @returns their answers in the same order. */
async function askAll(url: string, calls: readonly Call[]): Promise<Answer[]> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    // The ids are the caller's and may be equal.
    body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', ...call, id }))),
  });
  const answers = (await response.json()) as Answer[];
  return calls.map(({ id, method }, position) => {
    const answer = answers.find((candidate) => candidate.id === position);
    if (answer === undefined) throw new Error(`the node does not answer ${method}`);
    return { ...answer, id };
  });
}

export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function reply(response: ServerResponse, answer: Reply): void {
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body);
}
