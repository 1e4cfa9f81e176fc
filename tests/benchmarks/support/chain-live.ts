import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { ChainNode } from './chain-node-process.ts';
import { CONFIRMATIONS } from './chain-networks.ts';
import { busy } from './chain-scans.ts';
import { consumeTransfers } from './transfers.ts';

/** How long news of one block with one transfer to a watched wallet took, in milliseconds. */
export type News = {
  /** From the block at the node until the service asked for the head again. */
  waited: number;
  /** From then until the message of the transfer arrived. */
  told: number;
  /** The same for the message of the older transfer that this block confirms; null when nobody listened at that one's block. */
  confirmed: number | null;
};

export type Live = {
  /** Adds blocks at regular times, as real chains do. @param afterMs when the first interval begins. */
  listen(blocks: number, afterMs: number): Promise<News[]>;
  close(): Promise<void>;
};

const PATIENCE_MS = 120_000;
/** The interval in the timestamps of the synthetic chain. Like most chains, it is regular. */
const BLOCK_MS = 1_000;
/** Blocks that are not final yet, as on Ethereum. */
const UNFINAL = 64;

/** Consumes in place of payments. */
export async function startLive({ node, amqpUrl }: { node: ChainNode; amqpUrl: string }): Promise<Live> {
  /** When the message about a block's transfer arrived, by its height. */
  const arrivals = { seen: new Map<number, number>(), confirmed: new Map<number, number>(), retracted: new Map() };
  const broker = await consumeTransfers(amqpUrl, ({ phase, block_number: height }, at) => {
    arrivals[phase].set(height, at);
  });
  const arrivalOf = (phase: 'seen' | 'confirmed', height: number): Promise<number> =>
    eventually(
      () => {
        const at = arrivals[phase].get(height);
        if (at === undefined) throw new Error(`no message about block ${height} arrived: ${phase}`);
        return at;
      },
      { timeoutMs: PATIENCE_MS, intervalMs: 5 },
    );

  async function oneBlock(dueAt: number): Promise<News> {
    await node.ask('make', 1, [{ ...busy, matches: 1 }], true);
    await delay(Math.max(0, dueAt - performance.now()));
    const { head, shownAt } = await node.ask('show', UNFINAL);
    await node.ask('forget', head - 2 * UNFINAL);
    const arrivedAt = await arrivalOf('seen', head);
    const lookedAt = await node.ask('firstLook');
    const confirmedHeight = head - CONFIRMATIONS + 1;
    const isKnown = arrivals.seen.has(confirmedHeight);
    const confirmed = isKnown ? (await arrivalOf('confirmed', confirmedHeight)) - lookedAt : null;
    return { waited: lookedAt - shownAt, told: arrivedAt - lookedAt, confirmed };
  }

  return {
    async listen(blocks, afterMs) {
      const news: News[] = [];
      const startedAt = performance.now() + afterMs;
      for (let block = 1; block <= blocks; block += 1) news.push(await oneBlock(startedAt + block * BLOCK_MS));
      return news;
    },
    close: () => broker.close(),
  };
}
