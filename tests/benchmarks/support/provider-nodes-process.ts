import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { acceptSubscribers } from './announcer.ts';
import { serve } from './orders.ts';
import { providerChain, type ProviderChain } from './provider-chain.ts';
import { kindOf, noCounts, type EndpointCounts } from './provider-counts.ts';
import { providerNetworks } from './provider-networks.ts';
import type { ProvidersOrder, ProvidersState } from './provider-nodes.ts';

/** Answers as providers do: over HTTP, one call or a batch, compressed for who accepts that, after the time of a round trip. */
const LATENCY_MS = 40;
/** Shorter answers do not get shorter. */
const MIN_COMPRESSED_BYTES = 1_000;
/** Blocks below the final one that each chain has at its birth. */
const HISTORY = 100;

type Call = { id: number; method: string; params: unknown[] };

const chains = new Map<string, { chain: ProviderChain; bornAt: number }>();
let counts: Record<string, EndpointCounts> = {};

for (const network of await providerNetworks(Number(process.argv[2]))) {
  const { finalBehindMs, finalStepMs, blockMs } = network;
  const bornAt = Date.now() - finalBehindMs - finalStepMs - HISTORY * blockMs;
  chains.set(network.id, { chain: providerChain(network, bornAt), bornAt });
}

const countsAt = (path: string): EndpointCounts => (counts[path] ??= noCounts());

function answer({ id, method, params }: Call, chain: ProviderChain): string {
  const result = chain.answer({ method, params });
  if (result !== null) return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  const message = `the method ${method} does not exist/is not available`;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message } });
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '/').slice(1);
  const chain = chains.get(path.split('/')[0] ?? '')?.chain;
  const body = JSON.parse((await buffer(request)).toString()) as Call | Call[];
  const calls = [body].flat();
  await delay(LATENCY_MS);
  if (chain === undefined) {
    response.writeHead(404).end();
    return;
  }
  const answers = calls.map((call) => answer(call, chain));
  const text = Buffer.from(Array.isArray(body) ? `[${answers.join(',')}]` : (answers[0] ?? ''));
  const accepts = (request.headers['accept-encoding'] ?? '').includes('gzip');
  const isCompressed = accepts && text.length >= MIN_COMPRESSED_BYTES;
  const bytes = isCompressed ? gzipSync(text) : text;
  const counted = countsAt(path);
  counted.requests += 1;
  counted.bytes += bytes.length;
  for (const call of calls) {
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
const subscribers = acceptSubscribers(server);

async function announce(id: string, chain: ProviderChain): Promise<never> {
  for (let next = chain.head() + 1; ; next += 1) {
    await delay(Math.max(0, chain.dueAt(next) - Date.now()) + 1);
    const listening = [...subscribers].filter(({ path }) => path.startsWith(`/${id}/`));
    if (listening.length === 0) continue;
    const { transactions: _, ...header } = JSON.parse(chain.headerOf(next)) as Record<string, unknown>;
    const text = JSON.stringify({
      ...{ jsonrpc: '2.0', method: 'eth_subscription' },
      params: { subscription: '0x1', result: header },
    });
    for (const { path, say } of listening) {
      say(text);
      const counted = countsAt(path.slice(1));
      counted.announced += 1;
      counted.announcedBytes += text.length;
      counted.bytes += text.length;
    }
  }
}

for (const [id, { chain }] of chains) void announce(id, chain);
server.listen(0, '127.0.0.1');
await once(server, 'listening');

serve((order: ProvidersOrder): ProvidersState => {
  if (order.kind === 'count') counts = {};
  const heads = [...chains].map(([id, { chain, bornAt }]) => [id, { head: chain.head(), bornAt }] as const);
  return { port: (server.address() as AddressInfo).port, counts, chains: Object.fromEntries(heads) };
});
