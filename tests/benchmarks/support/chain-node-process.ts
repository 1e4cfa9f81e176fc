import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { NodeOrder, NodeState } from './chain-node.ts';
import { serve } from './orders.ts';
import {
  CHAIN_ID,
  TOKEN,
  TRANSFER_TOPIC,
  makeBlock,
  numberOfBlock,
  placeOfTransaction,
  type BlockPlan,
  type SyntheticBlock,
  type SyntheticLog,
} from './synthetic-chain.ts';

/**
 * A node of a synthetic chain. Headers and the token's events lie ready as bytes, so that answering costs little beside asking;
 * whatever else is asked is made from the block's plan, and kept for a while where it will be asked again.
 */

type Stored = { plan: BlockPlan; hash: string; header: Buffer; transfers: Buffer; receipts: string[] | null };
type Call = { id: number; method: string; params: unknown[] };
type Filter = { fromBlock?: string; toBlock?: string; blockHash?: string; address?: string; topics?: Topics };
type Topics = (string | string[] | null)[];

const blocks = new Map<number, Stored>();
const empty: BlockPlan = { events: 0, matches: 0, others: 0 };
const state: NodeState = { head: 0, shownAt: 0, firstLookAt: null, port: 0 };
let made = 0;
let finalized = 0;
let latencyMs = 0;

store(0, empty, false);

function store(number: number, plan: BlockPlan, withReceipts: boolean): void {
  const block = makeBlock(number, plan);
  const transfers = block.logs.filter(({ address }) => address === TOKEN).map(({ json }) => json);
  blocks.set(number, {
    plan,
    hash: block.hash,
    header: Buffer.from(block.header),
    transfers: Buffer.from(transfers.join(',')),
    receipts: withReceipts ? block.receipts() : null,
  });
}

function carryOut(order: NodeOrder | { kind: 'state' }): NodeState {
  if (order.kind === 'make') {
    for (let count = 0; count < order.count; count += 1) {
      made += 1;
      store(made, order.plans[count % order.plans.length] ?? empty, order.receipts);
    }
  } else if (order.kind === 'show') {
    [state.head, finalized, state.firstLookAt] = [made, Math.max(0, made - order.unfinal), null];
    state.shownAt = performance.timeOrigin + performance.now();
  } else if (order.kind === 'latency') {
    latencyMs = order.ms;
  } else if (order.kind === 'forget') {
    for (const number of blocks.keys()) if (number < order.below) blocks.delete(number);
  }
  return state;
}

const server = createServer((request, response) => {
  void buffer(request)
    .then((body) => respond(body, response))
    .catch((error: unknown) => response.writeHead(500).end(String(error)));
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  state.port = (server.address() as AddressInfo).port;
  serve(carryOut);
});

async function respond(body: Buffer, response: ServerResponse): Promise<void> {
  const calls = JSON.parse(body.toString()) as Call | Call[];
  if (latencyMs > 0) await delay(latencyMs / 2);
  const answers = Array.isArray(calls)
    ? ['[', ...calls.flatMap((call, position) => [...(position === 0 ? [] : [',']), ...envelope(call)]), ']']
    : envelope(calls);
  const bytes = Buffer.concat(answers.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  if (latencyMs > 0) await delay(latencyMs / 2);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
}

type Part = string | Buffer;

function envelope(call: Call): Part[] {
  const result = answer(call);
  if (result === undefined) {
    const message = `the method ${call.method} does not exist`;
    return [JSON.stringify({ jsonrpc: '2.0', id: call.id, error: { code: -32601, message } })];
  }
  return [`{"jsonrpc":"2.0","id":${call.id},"result":`, ...result, '}'];
}

/** @returns undefined for a method that is not offered. */
function answer({ method, params }: Call): Part[] | undefined {
  const [first] = params;
  switch (method) {
    case 'eth_chainId':
      return [JSON.stringify(`0x${CHAIN_ID.toString(16)}`)];
    case 'eth_blockNumber':
      return [JSON.stringify(`0x${state.head.toString(16)}`)];
    case 'eth_getBlockByNumber':
      return [shown(heightOf(String(first)))?.header ?? 'null'];
    case 'eth_getBlockByHash':
      return [shown(numberOfBlock(String(first)))?.header ?? 'null'];
    case 'eth_getLogs':
      return logs(first as Filter);
    case 'eth_getTransactionReceipt': {
      const { number, position } = placeOfTransaction(String(first));
      return [receiptsOf(number)?.[position] ?? 'null'];
    }
    case 'eth_getBlockReceipts': {
      const text = String(first);
      const receipts = receiptsOf(text.length === 66 ? numberOfBlock(text) : heightOf(text));
      return receipts ? ['[', receipts.join(','), ']'] : ['null'];
    }
    default:
      return undefined;
  }
}

function heightOf(tag: string): number {
  if (tag !== 'latest') return tag === 'finalized' ? finalized : Number(tag);
  state.firstLookAt ??= performance.timeOrigin + performance.now();
  return state.head;
}

function shown(number: number): Stored | undefined {
  return number <= state.head ? blocks.get(number) : undefined;
}

function logs({ fromBlock, toBlock, blockHash, address, topics }: Filter): Part[] {
  const isByHash = blockHash !== undefined;
  const from = isByHash ? numberOfBlock(blockHash) : heightOf(fromBlock ?? 'latest');
  const to = Math.min(state.head, isByHash ? from : heightOf(toBlock ?? 'latest'));
  const parts: Part[] = [];
  // Its other events are asked for along with the transfers, and it has none.
  const isEveryTransfer =
    address?.toLowerCase() === TOKEN && topics?.length === 1 && [topics[0]].flat().includes(TRANSFER_TOPIC);
  for (let number = from; number <= to; number += 1) {
    const block = blocks.get(number);
    const found = block && (isEveryTransfer ? block.transfers : filtered(number, block.plan, address, topics ?? []));
    if (found && found.length > 0) parts.push(parts.length === 0 ? '' : ',', found);
  }
  return ['[', ...parts, ']'];
}

function filtered(number: number, plan: BlockPlan, address: string | undefined, topics: Topics): string {
  const isWanted = (log: SyntheticLog): boolean =>
    (address === undefined || log.address === address.toLowerCase()) &&
    topics.every((wanted, position) => wanted === null || [wanted].flat().includes(log.topics[position] ?? ''));
  return makeBlock(number, plan)
    .logs.filter(isWanted)
    .map(({ json }) => json)
    .join(',');
}

/** Receipts that were not made beforehand are kept for one block at a time, of which all are asked for in a row. */
let lastAsked: { block: SyntheticBlock; receipts: string[] } | null = null;

function receiptsOf(number: number): string[] | null {
  const stored = shown(number);
  if (stored === undefined) return null;
  if (stored.receipts !== null) return stored.receipts;
  if (lastAsked?.block.number !== number) {
    const block = makeBlock(number, stored.plan);
    lastAsked = { block, receipts: block.receipts() };
  }
  return lastAsked.receipts;
}
