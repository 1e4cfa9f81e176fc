import { lookUpTransaction, type TransactionSight } from '@quittance/chain-reader/chain/look-up.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { withCaller } from '@quittance/runtime/concurrency/caller.ts';
import { withTimeout, DeadlineExceeded } from '@quittance/runtime/concurrency/deadline.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { LRUCache } from 'lru-cache';

export type WatchedNetwork = { network: ChainNetwork; endpoints: Pick<Endpoints, 'lookUp'> };

/** The transaction on the network that has it. `unknown`: no network has it. `unanswered`: a network that may have it did not answer. */
export type ChainSight =
  | (Exclude<TransactionSight, { kind: 'unknown' }> & { network: ChainNetwork })
  | { kind: 'unknown' }
  | { kind: 'unanswered' };

/** How long an answer is reused. An answer that may change soon is kept only briefly. */
const KEPT_MS: Record<ChainSight['kind'], number> = {
  mined: 60_000,
  failed: 60_000,
  pending: 10_000,
  unknown: 20_000,
  unanswered: 3_000,
};
/** Limit for the answers kept plus the transfers in them. */
const MAX_KEPT = 20_000;
/** Look-ups in progress on one network. If its nodes hang, no more than these wait, and the scan is not affected. */
const AT_ONCE = 8;
const AT_ONCE_ON_ALL = 32;
/** How long only the likeliest network is asked. */
const HEAD_START_MS = 700;

export type LookUps = ReturnType<typeof createLookUps>;

/**
 * Finds transactions on all networks. Anyone may ask about any transaction repeatedly. So answers are kept, including "unknown", questions
 * about one transaction share one look-up, and a look-up continues for the next caller when no one waits any more.
 */
export function createLookUps({ networks, logger }: { networks: readonly WatchedNetwork[]; logger: Logger }) {
  const kept = new LRUCache<string, ChainSight>({ maxSize: MAX_KEPT, sizeCalculation: sizeOf });
  const running = new Map<string, Promise<ChainSight>>();
  const busy = new Map<string, number>();

  /** @returns null when the network gave no answer. */
  async function see(
    { network, endpoints }: WatchedNetwork,
    transactionId: string,
    share: number,
  ): Promise<TransactionSight | null> {
    const started = busy.get(network.id) ?? 0;
    if (started >= AT_ONCE) return null;
    busy.set(network.id, started + 1);
    try {
      const sights = await endpoints.lookUp(
        (rpc) => lookUpTransaction(rpc, network, transactionId),
        ({ kind }) => kind !== 'unknown',
        share,
      );
      return sights.find(({ kind }) => kind !== 'unknown') ?? sights[0] ?? null;
    } finally {
      busy.set(network.id, (busy.get(network.id) ?? 1) - 1);
    }
  }

  async function seeOnAny(transactionId: string, first: string | undefined, share: number): Promise<ChainSight> {
    const ask = (asked: readonly WatchedNetwork[]) =>
      asked.map(async (watched) => ({ network: watched.network, sight: await see(watched, transactionId, share) }));
    const likeliest = networks.filter(({ network }) => network.id === first);
    const answers = ask(likeliest);
    const early = await within(HEAD_START_MS, firstFound(answers));
    if (early !== null) return early;
    answers.push(...ask(networks.filter((watched) => !likeliest.includes(watched))));
    const found = await firstFound(answers);
    if (found !== null) return found;
    return { kind: (await Promise.all(answers)).some(({ sight }) => sight === null) ? 'unanswered' : 'unknown' };
  }

  async function run(transactionId: string, first: string | undefined, share: number): Promise<ChainSight> {
    try {
      const sight = await withCaller(null, () => seeOnAny(transactionId, first, share));
      kept.set(transactionId, sight, { ttl: KEPT_MS[sight.kind] });
      return sight;
    } catch (error) {
      logger.error({ error }, 'a transaction could not be looked up');
      return { kind: 'unanswered' };
    } finally {
      running.delete(transactionId);
    }
  }

  return {
    /** An answer that is known or on its way, which costs nothing. */
    shared: (transactionId: string): Promise<ChainSight> | ChainSight | null =>
      kept.get(transactionId) ?? running.get(transactionId) ?? null,
    /**
     * @param first id of the network that most likely has it.
     * @param share up to which share of each provider's daily look-ups it may run.
     */
    async start(transactionId: string, first: string | undefined, share: number): Promise<ChainSight> {
      const other = running.get(transactionId);
      if (other !== undefined) return other;
      if (running.size >= AT_ONCE_ON_ALL) return { kind: 'unanswered' };
      const lookUp = run(transactionId, first, share);
      running.set(transactionId, lookUp);
      return lookUp;
    },
  };
}

type Answer = { network: ChainNetwork; sight: TransactionSight | null };

/** The first network that has the transaction, without waiting for slower ones; null when all have answered and none has it. */
async function firstFound(answers: readonly Promise<Answer>[]): Promise<ChainSight | null> {
  const found = answers.map(async (answer) => {
    const { network, sight } = await answer;
    if (sight === null || sight.kind === 'unknown') throw new Error('not found on this network');
    return { ...sight, network };
  });
  return Promise.any(found).catch(() => null);
}

/** @returns null when there is no result in time. */
async function within<T>(timeoutMs: number, work: Promise<T | null>): Promise<T | null> {
  try {
    return await withTimeout(timeoutMs, work);
  } catch (error) {
    if (error instanceof DeadlineExceeded) return null;
    throw error;
  }
}

const sizeOf = (sight: ChainSight): number =>
  1 + (sight.kind === 'mined' ? sight.transfers.length + sight.otherRecipients.length : 0);
