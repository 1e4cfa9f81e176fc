import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { backoffMs } from '@quittance/runtime/concurrency/backoff.ts';
import { firstBlockSince, BLOCK_TIME_MARGIN_SECONDS } from '../blocks/ranges.ts';
import { fencedTransaction, type Position, type Term } from '../leadership/term.ts';
import { endWatches, planWatches, readNewWatches, type NewWatch } from './watch.sql.ts';

const MAX_NEW_WATCHES = 500;
/** How long watches wait when no node could find their first block. The search takes about twenty calls. */
const BACKOFF = { firstMs: 1_000, maxMs: 60_000 };

/** Takes new wallets into the watch set, and determines which of the scanned blocks they still need. */
export function createWatchPlanner(term: Term, { chain }: Position) {
  const { network, endpoints, pool, watches, logger } = term;
  let newWatches: NewWatch[] = [];
  /** Monotonic milliseconds. */
  let oldNotBefore = 0;
  let oldFailures = 0;
  /** How many of the old watches, the latest first, are planned together. Halved while no node has the blocks of the earliest of them. */
  let oldAtOnce = MAX_NEW_WATCHES;

  async function planTogether(together: readonly NewWatch[]): Promise<boolean> {
    const [earliest] = together.toSorted((a, b) => a.watchedFrom.getTime() - b.watchedFrom.getTime());
    if (earliest === undefined) return false;
    const from = earliestSecond(earliest);
    const tip = chain.tip();
    const backFill =
      tip.timestamp < from ? null : { from: await firstBlockSince(endpoints, chain, from), to: tip.number };
    const addresses = together.map(({ address }) => address);
    await fencedTransaction(term, (tx) => planWatches(tx, network.id, addresses, earliest.watchedFrom, backFill));
    return true;
  }

  /** No node may ever be able to find the block of one of them. It waits, but no other does. */
  async function planOld(old: readonly NewWatch[]): Promise<boolean> {
    if (old.length === 0) return false;
    const latest = old.toSorted((a, b) => b.watchedFrom.getTime() - a.watchedFrom.getTime()).slice(0, oldAtOnce);
    let isPlanned = false;
    try {
      isPlanned = await planTogether(latest);
      oldFailures = 0;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      logger.warn({ network: network.id, error: error.message }, 'old watches have to wait');
    }
    if (!isPlanned && latest.length > 1) {
      oldAtOnce = Math.floor(latest.length / 2);
      return false;
    }
    if (latest.length < old.length || !isPlanned) {
      oldNotBefore = performance.now() + backoffMs(oldFailures, BACKOFF);
      oldFailures += 1;
    }
    oldAtOnce = MAX_NEW_WATCHES;
    return isPlanned;
  }

  return {
    async watchNewWallets(): Promise<void> {
      newWatches = await readNewWatches(pool, network.id, MAX_NEW_WATCHES);
      for (const { address } of newWatches) watches.add(address);
    },
    /** Stores which blocks those wallets need, so that a crash loses nothing. @returns whether there may be new back-fills. */
    async plan(): Promise<boolean> {
      const { recent = [], old = [] } = Object.groupBy(newWatches, (watch) =>
        chain.before(earliestSecond(watch)) === undefined ? 'old' : 'recent',
      );
      const planned = await planTogether(recent);
      return performance.now() < oldNotBefore ? planned : (await planOld(old)) || planned;
    },
  };
}

/** The first Unix second whose blocks may hold a transfer that matters. */
const earliestSecond = ({ watchedFrom }: NewWatch): number =>
  Math.floor(watchedFrom.getTime() / 1000) - BLOCK_TIME_MARGIN_SECONDS;

const EVERY_MS = 10_000;
const MAX_AT_ONCE = 1_000;

/** Ends the watches that no payment needs any more. */
export function createEndWatchesJob(term: Term, { heights }: Position): { run(): Promise<void> } {
  let notBefore = 0;
  return {
    async run() {
      const { largeFinal } = heights();
      if (largeFinal === null || performance.now() < notBefore) return;
      notBefore = performance.now() + EVERY_MS;
      const final = new Date(largeFinal.timestamp * 1000);
      const ended = await fencedTransaction(term, (tx) => endWatches(tx, term.network.id, final, MAX_AT_ONCE));
      for (const address of ended) term.watches.delete(address);
    },
  };
}
