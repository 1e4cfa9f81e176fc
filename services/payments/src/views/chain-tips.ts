import type { NetworkTip } from '@quittance/contracts/http/chain-watcher/tips.ts';
import { DeadlineExceeded, withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { TipReader } from '../clients.ts';

/** How far chain-watcher had scanned when it was last asked. */
export type ChainTips = {
  /** By network. A missing one is unknown. */
  tips: ReadonlyMap<string, NetworkTip>;
  /** When it was asked, by performance.now(): the answer includes everything it had published until then. */
  askedAt: number;
};

/** Never fails, and hardly waits: when chain-watcher is slow or down, its last answer is returned. */
export type ReadTips = () => Promise<ChainTips>;

export const noTips: ChainTips = { tips: new Map(), askedAt: -Infinity };

/** An answer serves all requests for this long; a checkout page polls every four times as much. */
const MAX_AGE_MS = 1_000;
/** A customer does not notice this; and only the first request waits it out when chain-watcher turns slow. */
const MAX_WAIT_MS = 100;

/**
 * Asks chain-watcher when a request needs it and the last question is a second old, one question at a time. After one that was not
 * answered promptly no request waits, until one has been.
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
      known = { tips: await reader.tips(), askedAt };
      isPrompt = performance.now() - askedAt <= MAX_WAIT_MS;
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        logger.warn({ error }, 'chain-watcher does not answer its tips: confirmations may be shown too low');
      isPrompt = false;
      isFailing = true;
    }
  }

  async function waitFor(answer: Promise<void>): Promise<void> {
    try {
      await withTimeout(MAX_WAIT_MS, answer);
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      isPrompt = false;
    }
  }

  return async () => {
    if (question === null && performance.now() - lastAskedAt >= MAX_AGE_MS)
      question = ask().finally(() => (question = null));
    if (question !== null && isPrompt) await waitFor(question);
    return known;
  };
}
