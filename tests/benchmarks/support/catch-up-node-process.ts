import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { catchUpPlans, entryOf, PAID_EVERY } from './catch-up-plans.ts';
import { serve, type Forked } from './forked.ts';
import { kindOf, type EndpointCounts } from './provider-counts.ts';
import { createChain, type BlockPlan } from './synthetic-chain.ts';
import { bodyOf, filtered, type Call, type SyntheticNode } from './synthetic-node.ts';

/**
 * A provider's node, whose blocks appear by the clock. Headers and the token's events are ready before the measurement, so that answering
 * takes little time, as are the receipts of the blocks that pay orders.
 */

/** From the request to the answer. */
const LATENCY_MS = 40;
const SECOND_MS = 1_000;
const WINDOW_SECONDS = 10;

const [, , id, behindText, historyText] = process.argv;
const [behind, history] = [Number(behindText), Number(historyText)];
const found = catchUpPlans.find((plan) => plan.id === id);
if (found === undefined) throw new Error(`there is no plan for ${String(id)}`);
const plan = found;

const server = createServer();
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const { entry, token } = await entryOf(plan, url);

/** Block 0 appeared long enough ago that the clock alone makes the chain as long as it must be. */
const bornAt = Date.now() - (history + behind) * plan.blockMs;
const timestampOf = (number: number): number => Math.floor((bornAt + number * plan.blockMs) / 1000);
/** Blocks are proven where they pay an order, and on Tron never. */
const hasTrueRoot = ({ matches }: BlockPlan): boolean => plan.hasBloom && matches > 0;
const chain = createChain({ token, hasBloom: plan.hasBloom, payee: null, timestampOf, hasTrueRoot });

/** `receipts`: of a block that pays an order. */
type Stored = { header: Buffer; transfers: Buffer; paid: { wallet: string; receipts: string[] } | null };
const blocks: Stored[] = [];

const planOf = (number: number): BlockPlan => ({ ...plan.block, matches: number % PAID_EVERY === 0 ? 1 : 0 });

function make(): void {
  const { number, header, logs, receipts } = chain.append(planOf(blocks.length));
  const own = logs.filter(({ address }) => address === token);
  // The last transfer of a block with a match is the match.
  const recipient = number % PAID_EVERY === 0 ? own.at(-1)?.topics[2] : undefined;
  blocks.push({
    header: Buffer.from(header),
    transfers: Buffer.from(own.map(({ json }) => json).join(',')),
    paid: recipient === undefined ? null : { wallet: `0x${recipient.slice(-40)}`, receipts: receipts() },
  });
}

const byClock = (): number => Math.floor((Date.now() - bornAt) / plan.blockMs);
/** A transfer that pays an order. `paidAt`: Unix seconds. */
export type CatchUpOrder = { wallet: string; block: number; paidAt: number };

/** Nothing above this block is shown yet. */
let newest = history;

function head(): number {
  const shown = Math.min(newest, byClock());
  while (blocks.length <= shown) make();
  return shown;
}

const stored = (number: number): Stored | null => (number <= head() ? (blocks[number] ?? null) : null);

const node: SyntheticNode = {
  ...{ chainId: entry.chain_id, hasBlockReceipts: plan.hasBloom, numberOf: chain.numberOf, head, latest: head },
  finalized: () => Math.max(0, head() - plan.unfinal),
  header: (number) => stored(number)?.header ?? null,
  logs(number, filter) {
    const block = stored(number);
    if (block === null) return null;
    // chain-watcher asks for all transfers where a plan allows so few blocks at once; a deprecation of the token never happens.
    const isEveryTransfer = filter.address === token && filter.topics.length === 1;
    return isEveryTransfer ? block.transfers : filtered(chain.again(number, planOf(number)).logs, filter);
  },
  receipts(number) {
    const block = stored(number);
    return block === null ? null : (block.paid?.receipts ?? chain.again(number, planOf(number)).receipts());
  },
};

/** What was asked for in a second. */
type Use = { calls: number; units: number };
const used = new Map<number, Use>();
let byKind: EndpointCounts['calls'] = {};

function count(calls: readonly Call[]): void {
  const second = Math.floor(performance.now() / SECOND_MS);
  const use = used.get(second) ?? { calls: 0, units: 0 };
  const prices = plan.units?.prices;
  for (const call of calls) {
    const kind = kindOf(call);
    byKind[kind] = (byKind[kind] ?? 0) + 1;
    use.calls += 1;
    use.units += prices === undefined ? 0 : (prices[call.method] ?? prices.default);
  }
  used.set(second, use);
}

async function respond(body: Buffer): Promise<Buffer> {
  const calls = JSON.parse(body.toString()) as Call | Call[];
  count([calls].flat());
  await delay(LATENCY_MS);
  return bodyOf(node, calls);
}

server.on('request', (request, response) => {
  buffer(request)
    .then(respond)
    .then((bytes) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes),
    )
    .catch((error: unknown) => response.writeHead(500).end(String(error)));
});

/** The most units, and calls, of this many seconds in a row. */
function most(seconds: number): Use {
  const windows = [...used.keys()].map((first) => {
    const within = Array.from({ length: seconds }, (_, offset) => used.get(first + offset) ?? { calls: 0, units: 0 });
    return within.reduce((sum, use) => ({ calls: sum.calls + use.calls, units: sum.units + use.units }));
  });
  return {
    calls: Math.max(0, ...windows.map(({ calls }) => calls)),
    units: Math.max(0, ...windows.map(({ units }) => units)),
  };
}

const handlers = serve({
  url: () => url,
  /** Makes the blocks that have appeared so far, and hides those above the history. */
  prepare() {
    while (blocks.length <= byClock()) make();
  },
  /** Those in hidden blocks that are final by now. */
  orders(): CatchUpOrder[] {
    const final = byClock() - plan.unfinal;
    return blocks
      .slice(0, final + 1)
      .flatMap(({ paid }, block) =>
        paid === null || block <= history ? [] : [{ wallet: paid.wallet, block, paidAt: timestampOf(block) }],
      );
  },
  /** Shows every block from now on, and counts from zero. */
  show() {
    newest = Number.POSITIVE_INFINITY;
    used.clear();
    byKind = {};
  },
  /** Since `show`. */
  uses: () => ({
    byKind,
    calls: [...used.values()].reduce((sum, { calls }) => sum + calls, 0),
    mostInASecond: most(1).calls,
    mostUnitsInTenSeconds: most(WINDOW_SECONDS).units,
  }),
});
export type CatchUpNode = Forked<typeof handlers>;
