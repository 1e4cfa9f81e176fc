import type { Logger } from '@quittance/runtime/logger.ts';
import { DeadlineExceeded, withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import type { TipReader } from './clients.ts';

/** How far chain-watcher had scanned when it was last asked. */
export type ChainTips = {
  /** Height of the last scanned block, by network. One that is not there is not known. */
  heights: ReadonlyMap<string, number>;
  /** When it was asked, by performance.now(): everything it had said until then is part of what it answered. */
  askedAt: number;
};

/** Never fails, and hardly waits: when chain-watcher is slow or gone, what it said before is all there is. */
export type ReadTips = () => Promise<ChainTips>;

export const noTips: ChainTips = { heights: new Map(), askedAt: -Infinity };

/** An answer serves everybody for this long; a page looks again after four times as much. */
const KEPT_MS = 1_000;
/** A customer does not notice this; and only the first one has to wait it out when chain-watcher turns slow. */
const PATIENCE_MS = 100;

/**
 * Asks chain-watcher when somebody wants to know and the last question is a second old, one question at a time. After one that was not
 * answered promptly nobody waits, until one has been.
 */
export function createChainTips({ reader, logger }: { reader: TipReader; logger: Logger }): ReadTips {
  let known = noTips;
  let lastAskedAt = -Infinity;
  let question: Promise<void> | null = null;
  let isPrompt = true;
  let isFailing = false;

  async function ask(): Promise<void> {
    const askedAt = performance.now();
    lastAskedAt = askedAt;
    try {
      known = { heights: await reader.tips(), askedAt };
      isPrompt = performance.now() - askedAt <= PATIENCE_MS;
      isFailing = false;
    } catch (error) {
      if (!isFailing) logger.warn({ error }, 'confirmations are shown as they were last heard of');
      isPrompt = false;
      isFailing = true;
    }
  }

  return async () => {
    if (question === null && performance.now() - lastAskedAt >= KEPT_MS)
      question = ask().finally(() => (question = null));
    if (question !== null && isPrompt) await waitFor(question);
    return known;
  };

  async function waitFor(answer: Promise<void>): Promise<void> {
    try {
      await withTimeout(PATIENCE_MS, answer);
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      isPrompt = false;
    }
  }
}
