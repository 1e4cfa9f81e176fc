import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { serve, type Forked } from './forked.ts';
import {
  CHAIN_ID,
  TOKEN,
  TRANSFER_TOPIC,
  createChain,
  type BlockPlan,
  type SyntheticBlock,
} from './synthetic-chain.ts';
import { bodyOf, filtered, type Call, type Filter, type SyntheticNode } from './synthetic-node.ts';

/**
 * A node whose chain grows on request. Headers and the token's events are ready as bytes, so that answering costs little compared
 * with asking. Other answers are made from the block's plan, and kept for a while where they are asked for again.
 */

type Stored = { plan: BlockPlan; header: Buffer; transfers: Buffer; receipts: string[] | null };

const chain = createChain();
const blocks = new Map<number, Stored>();
const empty: BlockPlan = { events: 0, matches: 0, others: 0 };
const shown = { head: 0, shownAt: 0 };
let firstLookAt: number | null = null;
let finalized = 0;
let latencyMs = 0;

store(empty, false);

function store(plan: BlockPlan, withReceipts: boolean): void {
  const block = chain.append(plan);
  const transfers = block.logs.filter(({ address }) => address === TOKEN).map(({ json }) => json);
  blocks.set(block.number, {
    plan,
    header: Buffer.from(block.header),
    transfers: Buffer.from(transfers.join(',')),
    receipts: withReceipts ? block.receipts() : null,
  });
}

const stored = (number: number): Stored | null => (number <= shown.head ? (blocks.get(number) ?? null) : null);

const node: SyntheticNode = {
  chainId: CHAIN_ID,
  hasBlockReceipts: true,
  head: () => shown.head,
  latest() {
    firstLookAt ??= performance.timeOrigin + performance.now();
    return shown.head;
  },
  finalized: () => finalized,
  numberOf: chain.numberOf,
  header: (number) => stored(number)?.header ?? null,
  logs(number, filter) {
    const block = stored(number);
    if (block === null) return null;
    return isEveryTransfer(filter) ? block.transfers : filtered(chain.again(number, block.plan).logs, filter);
  },
  receipts: receiptsOf,
};

/** The service also asks for other events of the token. This node has none. */
const isEveryTransfer = ({ address, topics }: Filter): boolean =>
  address === TOKEN && topics.length === 1 && [topics[0]].flat().includes(TRANSFER_TOPIC);

/** Receipts that were not made beforehand are kept for one block at a time, because all of a block are asked for in a row. */
let lastAsked: { block: SyntheticBlock; receipts: string[] } | null = null;

function receiptsOf(number: number): string[] | null {
  const block = stored(number);
  if (block === null || block.receipts !== null) return block?.receipts ?? null;
  if (lastAsked?.block.number !== number) {
    const made = chain.again(number, block.plan);
    lastAsked = { block: made, receipts: made.receipts() };
  }
  return lastAsked.receipts;
}

const server = createServer((request, response) => {
  const respond = async (): Promise<void> => {
    const calls = JSON.parse((await buffer(request)).toString()) as Call | Call[];
    if (latencyMs > 0) await delay(latencyMs / 2);
    const bytes = bodyOf(node, calls);
    if (latencyMs > 0) await delay(latencyMs / 2);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
  };
  respond().catch((error: unknown) => response.writeHead(500).end(String(error)));
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');

const handlers = serve({
  url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  /** Adds blocks, whose plans take turns, and does not show them yet. With `receipts`, those are ready too. @returns the head shown. */
  make(count: number, plans: readonly BlockPlan[], receipts: boolean) {
    for (let position = 0; position < count; position += 1) store(plans[position % plans.length] ?? empty, receipts);
    return shown.head;
  },
  /** Shows all that were made; the last `unfinal` are not final. @returns the head, and when it was shown: milliseconds since 1970. */
  show(unfinal: number) {
    const newest = chain.length() - 1;
    [shown.head, finalized, firstLookAt] = [newest, Math.max(0, newest - unfinal), null];
    shown.shownAt = performance.timeOrigin + performance.now();
    return shown;
  },
  /** When the newest block was first asked for since the last `show`; NaN if it was not. */
  firstLook: () => firstLookAt ?? Number.NaN,
  /** Each answer takes this long from now on, half of it before the node looks at its chain. */
  latency(ms: number) {
    latencyMs = ms;
  },
  /** Forgets the content of blocks below this height. */
  forget(below: number) {
    for (const number of blocks.keys()) if (number < below) blocks.delete(number);
  },
});
export type ChainNode = Forked<typeof handlers>;
