import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Call } from '@quittance/testkit/chain/misbehaving-node.ts';

export type Reply = { status?: number; body: unknown; headers?: Record<string, string> };

/** A server that answers each HTTP exchange as a test says, and records the requests. Null: it never answers. */
export type ScriptedNode = {
  url: string;
  /** The calls of each exchange so far. */
  exchanges: Call[][];
  /** The headers of each exchange. */
  headers: IncomingHttpHeaders[];
  close(): Promise<void>;
};

export async function scriptedNode(answer: (calls: Call[], isList: boolean) => Reply | null): Promise<ScriptedNode> {
  const node: ScriptedNode = { url: '', exchanges: [], headers: [], close };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Call | Call[];
    const calls = [asked].flat();
    node.exchanges.push(calls);
    node.headers.push(request.headers);
    const reply = answer(calls, Array.isArray(asked));
    if (reply === null) return;
    const isRaw = typeof reply.body === 'string' || Buffer.isBuffer(reply.body);
    const body = isRaw ? reply.body : JSON.stringify(reply.body);
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers }).end(body);
  }

  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3/a-secret-key`;
  return node;

  function close(): Promise<void> {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  }
}

/** The correct answer: the method and the first parameter. */
export const echo = ({ id, method, params }: Call) => ({
  jsonrpc: '2.0',
  id,
  result: `${method} ${String(params[0])}`,
});

export const failed = ({ id }: Call, code: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});
