import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { WebSocketServer, type WebSocket } from 'ws';
import { serve, type Forked } from './forked.ts';
import { kindOf, noCounts, type EndpointCounts } from './provider-counts.ts';
import { planAt, providerNetworks, type ProviderNetwork } from './provider-networks.ts';
import { createChain, type SyntheticBlock } from './synthetic-chain.ts';
import { bodyOf, filtered, type Call, type SyntheticNode } from './synthetic-node.ts';
import { PAYEE } from './synthetic-wallets.ts';

/**
 * Two endpoints of each network, as providers have them: over HTTP, one call or a batch, compressed for clients that accept it, after
 * the time of a round trip. They announce new blocks over WebSockets.
 */
const LATENCY_MS = 40;
/** Compressing shorter answers does not make them shorter. */
const MIN_COMPRESSED_BYTES = 1_000;
/** Blocks below the final one that each chain starts with. */
const HISTORY = 100;

type Chain = { node: SyntheticNode; bornAt: number; blockMs: number };

const chains = new Map<string, Chain>();
let counts: Record<string, EndpointCounts> = {};

for (const network of await providerNetworks(Number(process.argv[2]))) {
  const { finalBehindMs, finalStepMs, blockMs } = network;
  const bornAt = Date.now() - finalBehindMs - finalStepMs - HISTORY * blockMs;
  const node = nodeOf(network, bornAt);
  // Makes all blocks so far, which takes seconds.
  node.header(node.head());
  chains.set(network.id, { node, bornAt, blockMs });
}

/** A chain whose blocks appear by the clock alone. @param bornAt when block 0 appeared. */
function nodeOf(network: ProviderNetwork, bornAt: number): SyntheticNode {
  const { blockMs, finalBehindMs, finalStepMs, hasBloom, token, entry } = network;
  const timestampOf = (number: number) => Math.floor((bornAt + number * blockMs) / 1000);
  const face = { token, hasBloom, payee: PAYEE, timestampOf };
  const heightAt = (time: number) => Math.max(0, Math.floor((time - bornAt) / blockMs));
  const head = () => heightAt(Date.now());
  const chain = createChain(face);
  const blocks: SyntheticBlock[] = [];
  const shown = (number: number): SyntheticBlock | null => {
    if (!(number >= 0 && number <= head())) return null;
    while (blocks.length <= number) blocks.push(chain.append(planAt(network, blocks.length)));
    return blocks[number] ?? null;
  };
  return {
    ...{ chainId: entry.chain_id, hasBlockReceipts: hasBloom, head, latest: head },
    numberOf: chain.numberOf,
    finalized: () => heightAt(Math.floor(Date.now() / finalStepMs) * finalStepMs - finalBehindMs),
    header: (number) => shown(number)?.header ?? null,
    logs: (number, filter) => filtered(shown(number)?.logs ?? [], filter),
    receipts: (number) => shown(number)?.receipts() ?? null,
  };
}

const countsAt = (path: string): EndpointCounts => (counts[path] ??= noCounts());
const pathOf = ({ url = '/' }: IncomingMessage): string => url.slice(1);

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = pathOf(request);
  const chain = chains.get(path.split('/')[0] ?? '');
  const calls = JSON.parse((await buffer(request)).toString()) as Call | Call[];
  await delay(LATENCY_MS);
  if (chain === undefined) {
    response.writeHead(404).end();
    return;
  }
  const text = bodyOf(chain.node, calls);
  const accepts = (request.headers['accept-encoding'] ?? '').includes('gzip');
  const isCompressed = accepts && text.length >= MIN_COMPRESSED_BYTES;
  const bytes = isCompressed ? gzipSync(text) : text;
  const counted = countsAt(path);
  counted.requests += 1;
  counted.bytes += bytes.length;
  for (const call of [calls].flat()) {
    const kind = kindOf(call);
    counted.calls[kind] = (counted.calls[kind] ?? 0) + 1;
  }
  const encoding = isCompressed && { 'content-encoding': 'gzip' };
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length, ...encoding })
    .end(bytes);
}

const server = createServer((request, response) => {
  respond(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
});
server.keepAliveTimeout = 120_000;

/** Clients that have subscribed, with the path of their endpoint. Every request of theirs is granted. */
const subscribers = new Map<WebSocket, string>();
new WebSocketServer({ server }).on('connection', (socket, request) => {
  subscribers.set(socket, pathOf(request));
  socket.on('message', (data: Buffer) => {
    const { id } = JSON.parse(data.toString()) as { id: number };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }));
  });
  socket.on('error', () => socket.terminate());
  socket.on('close', () => subscribers.delete(socket));
});

async function announce(id: string, { node, bornAt, blockMs }: Chain): Promise<never> {
  for (let next = node.head() + 1; ; next += 1) {
    await delay(Math.max(0, bornAt + next * blockMs - Date.now()) + 1);
    const listening = [...subscribers].filter(([, path]) => path.startsWith(`${id}/`));
    if (listening.length === 0) continue;
    const { transactions: _, ...header } = JSON.parse(String(node.header(next) ?? 'null')) as Record<string, unknown>;
    const text = JSON.stringify({
      ...{ jsonrpc: '2.0', method: 'eth_subscription' },
      params: { subscription: '0x1', result: header },
    });
    for (const [socket, path] of listening) {
      socket.send(text);
      const counted = countsAt(path);
      counted.announced += 1;
      counted.announcedBytes += text.length;
      counted.bytes += text.length;
    }
  }
}

for (const [id, chain] of chains) void announce(id, chain);
server.listen(0, '127.0.0.1');
await once(server, 'listening');

const handlers = serve({
  /** Host and port. */
  origin: () => `127.0.0.1:${(server.address() as AddressInfo).port}`,
  /** Counts from zero, from now on. */
  reset() {
    counts = {};
  },
  /** By network and endpoint, such as `tron/0`. */
  counts: () => counts,
  /** Of each network: its present head, and when its block 0 appeared, in milliseconds since 1970. */
  chains: (): Record<string, { head: number; bornAt: number }> =>
    Object.fromEntries([...chains].map(([id, { node, bornAt }]) => [id, { head: node.head(), bornAt }])),
});
export type Providers = Forked<typeof handlers>;
