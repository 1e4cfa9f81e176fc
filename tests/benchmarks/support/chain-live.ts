import { setTimeout as delay } from 'node:timers/promises';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import type { ChainNode } from './chain-node.ts';
import { busy } from './chain-scans.ts';

/** How long news took, in milliseconds, of one block with one transfer to a watched wallet. */
export type News = {
  /** From the block at the node until the service asked for the head the next time. */
  waited: number;
  /** From then until the message of the transfer was there. */
  told: number;
};

export type Live = {
  /** Adds blocks at regular times, as real chains do. */
  listen(blocks: number): Promise<News[]>;
  close(): Promise<void>;
};

const QUEUE = 'payments.transfer-observed';
const PATIENCE_MS = 120_000;
/** As the timestamps of the synthetic chain have it: like most chains it can be foretold. */
const BLOCK_MS = 1_000;

/** Stands where payments stands. */
export async function startLive(options: { node: ChainNode; amqpUrl: string }): Promise<Live> {
  const { node } = options;
  const broker = connectBroker({ url: options.amqpUrl, name: 'benchmark', logger: testLogger, metrics: testMetrics });
  const connection = await broker.consuming.connected(AbortSignal.timeout(PATIENCE_MS));
  const channel = await connection.createChannel();
  /** When the first message about a block arrived, by its height. */
  const arrivals = new Map<number, number>();
  await channel.consume(
    QUEUE,
    (delivery) => {
      if (delivery === null) return;
      const now = performance.timeOrigin + performance.now();
      const { phase, block_number } = TransferObserved.parse(JSON.parse(delivery.content.toString()));
      if (phase === 'seen') arrivals.set(block_number, now);
    },
    { noAck: true },
  );

  async function oneBlock(dueAt: number): Promise<News> {
    await node.order({ kind: 'make', count: 1, plans: [{ ...busy, matches: 1 }], receipts: true });
    await delay(Math.max(0, dueAt - performance.now()));
    const { head, shownAt } = await node.order({ kind: 'show', unfinal: UNFINAL });
    await node.order({ kind: 'forget', below: head - 2 * UNFINAL });
    const arrivedAt = await eventually(
      () => {
        const at = arrivals.get(head);
        if (at === undefined) throw new Error(`no message about block ${head} arrived`);
        return at;
      },
      { timeoutMs: PATIENCE_MS, intervalMs: 5 },
    );
    const lookedAt = (await node.firstLook()) ?? Number.NaN;
    return { waited: lookedAt - shownAt, told: arrivedAt - lookedAt };
  }

  return {
    async listen(blocks) {
      const news: News[] = [];
      const startedAt = performance.now();
      for (let block = 1; block <= blocks; block += 1) news.push(await oneBlock(startedAt + block * BLOCK_MS));
      return news;
    },
    async close() {
      await channel.close();
      await broker.close();
    },
  };
}

/** Blocks of the live chain that are not final yet, as on Ethereum. */
const UNFINAL = 64;
