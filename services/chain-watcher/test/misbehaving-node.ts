import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Call = { id: number; method: string; params: unknown[] };
export type Answer = { id: number; result?: unknown; error?: { code: number; message: string } };

/** A node that passes questions on to a real one and spoils the answers as a test wants. */
export type MisbehavingNode = {
  url: string;
  /** HTTP requests so far. */
  requests(): number;
  /** Changes each single answer of the real node; undefined leaves it alone. */
  spoil(change: ((call: Call, answer: Answer) => Partial<Answer> | undefined) | null): void;
  /** Answers every request with this instead, or drops the connection. */
  replaceAll(reply: { status: number; body: string; headers?: Record<string, string> } | 'drop' | null): void;
  /** Takes part in the chain as a replica that is so many blocks behind. */
  lag(blocks: number): void;
  close(): Promise<void>;
};

export async function misbehavingNode({ rpcUrl }: { rpcUrl: string }): Promise<MisbehavingNode> {
  let change: ((call: Call, answer: Answer) => Partial<Answer> | undefined) | null = null;
  let replacement: { status: number; body: string; headers?: Record<string, string> } | 'drop' | null = null;
  let lagBlocks = 0;
  let requests = 0;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests += 1;
    const body = await readText(request);
    if (replacement === 'drop') throw new Error('the connection is dropped');
    if (replacement !== null) {
      reply(response, replacement);
      return;
    }
    const calls = JSON.parse(body) as Call | Call[];
    const answers = await Promise.all([calls].flat().map((call) => answerOne(call)));
    reply(response, { status: 200, body: JSON.stringify(Array.isArray(calls) ? answers : answers[0]) });
  }

  async function answerOne(call: Call): Promise<Answer> {
    const answer = await ask(rpcUrl, await behind(call));
    return { ...answer, ...change?.(call, answer) };
  }

  /** Turns a question about the head, or beyond, into what a lagging replica would understand. */
  async function behind(call: Call): Promise<Call> {
    if (lagBlocks === 0 || call.method !== 'eth_getBlockByNumber') return call;
    const { result } = await ask(rpcUrl, { id: 0, method: 'eth_blockNumber', params: [] });
    const head = Number(result) - lagBlocks;
    const asked = call.params[0] === 'latest' ? head : Number(call.params[0]);
    if (Number.isNaN(asked)) return call;
    // A height that does not exist yet is answered with null.
    return { ...call, params: [`0x${(asked > head ? 0xffff_ffff : asked).toString(16)}`, false] };
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/a-secret-key`,
    requests: () => requests,
    spoil: (next) => {
      change = next;
    },
    replaceAll: (next) => {
      replacement = next;
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

async function ask(url: string, call: Call): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', ...call }),
  });
  return (await response.json()) as Answer;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function reply(
  response: ServerResponse,
  answer: { status: number; body: string; headers?: Record<string, string> },
): void {
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body);
}
