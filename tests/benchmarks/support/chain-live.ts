import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { ChainNode } from './chain-node-process.ts';
import { busy } from './chain-scans.ts';
import { consumeTransfers } from './transfers.ts';

/** How long news of one block with one transfer to a watched wallet took, in milliseconds. */
export type News = {
  /** From the block at the node until the service asked for the head again. */
  waited: number;
  /** From then until the message of the transfer arrived. */
  told: number;
};

export type Live = {
  /** Adds blocks at regular times, as real chains do. */
  listen(blocks: number): Promise<News[]>;
  close(): Promise<void>;
};

const PATIENCE_MS = 120_000;
/** The interval in the timestamps of the synthetic chain. Like most chains, it is regular. */
const BLOCK_MS = 1_000;
/** Blocks that are not final yet, as on Ethereum. */
const UNFINAL = 64;

/** Consumes in place of payments. */
export async function startLive({ node, amqpUrl }: { node: ChainNode; amqpUrl: string }): Promise<Live> {
  /** When the first message about a block arrived, by its height. */
  const arrivals = new Map<number, number>();
  const broker = await consumeTransfers(amqpUrl, ({ block_number: height }, at) => void arrivals.set(height, at));

  async function oneBlock(dueAt: number): Promise<News> {
    await node.ask('make', 1, [{ ...busy, matches: 1 }], true);
    await delay(Math.max(0, dueAt - performance.now()));
    const { head, shownAt } = await node.ask('show', UNFINAL);
    await node.ask('forget', head - 2 * UNFINAL);
    const arrivedAt = await eventually(
      () => {
        const at = arrivals.get(head);
        if (at === undefined) throw new Error(`no message about block ${head} arrived`);
        return at;
      },
      { timeoutMs: PATIENCE_MS, intervalMs: 5 },
    );
    const lookedAt = await node.ask('firstLook');
    return { waited: lookedAt - shownAt, told: arrivedAt - lookedAt };
  }

  return {
    async listen(blocks) {
      const news: News[] = [];
      const startedAt = performance.now();
      for (let block = 1; block <= blocks; block += 1) news.push(await oneBlock(startedAt + block * BLOCK_MS));
      return news;
    },
    close: () => broker.close(),
  };
}
