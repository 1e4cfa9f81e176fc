import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { createRangeSize } from '../blocks/ranges.ts';
import { firstBlockSince } from '../blocks/ranges.ts';
import type { ChainView, Position } from '../leadership/term.ts';
import { fencedTransaction, type Term } from '../leadership/term.ts';
import type { SecondReadingJob, StoreResult } from './background.ts';
import {
  advanceRescan,
  delayRescan,
  failRescan,
  readNextRescan,
  startRescan,
  type UnfinishedRescan,
} from './rescan.sql.ts';
import { readSpan, type BlockSpan } from './second-reading.ts';
import { storeDifferences } from './second-reading.ts';

/** How often the database is checked for new rescans. */
const POLL_EVERY_MS = 1_000;
/** How long a rescan pauses after a node could not answer. */
const RETRY_MS = 5_000;
/** After this many failures in a row, the blocks count as gone. A node that was cut off for a moment may still have them. */
const MAX_TRIES = 3;

/**
 * Reads blocks again at operators' request, the oldest request first.
 * @param endpointOf the endpoint that a block was last read from.
 */
export function createRescanJob(
  term: Term,
  { chain, heights }: Position,
  endpointOf: (number: number) => number,
): SecondReadingJob {
  const { network, endpoints, pool, metrics } = term;
  const rangeSize = createRangeSize(network);
  /** Monotonic milliseconds. */
  let notBefore = 0;

  async function rescanSpan(rescan: UnfinishedRescan, span: BlockSpan): Promise<StoreResult> {
    // Preferably from an endpoint other than the scan's. But that one may be the only one that keeps blocks this old.
    const reading = await readSpan(term, chain, span, { than: endpointOf(span.from), orSame: true });
    return async () => {
      await storeDifferences(term, heights(), reading, {
        onlyMissed: false,
        store: (tx, found) => advanceRescan(tx, rescan.rescan_id, { through: span.to, found }),
      });
      const blocks = span.to - span.from + 1;
      rangeSize.grow(blocks);
      metrics.rescannedBlocks.inc({ network: network.id }, blocks);
    };
  }

  /** After a failure, tries again with a smaller range or later. Blocks that the nodes do not have fail the rescan. */
  async function orLater(rescan: UnfinishedRescan, read: () => Promise<StoreResult>): Promise<StoreResult> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return () => retryLater(rescan, error);
    }
  }

  async function retryLater(rescan: UnfinishedRescan, error: RpcError): Promise<void> {
    if (rangeSize.shrinkAfter(error, rangeSize.size())) return;
    notBefore = performance.now() + RETRY_MS;
    await storeFailure(term, rescan, error);
  }

  return {
    async next() {
      const { final } = heights();
      if (final === null || performance.now() < notBefore) return null;
      const rescan = await readNextRescan(pool, network.id);
      if (rescan === null) {
        notBefore = performance.now() + POLL_EVERY_MS;
        return null;
      }
      if (rescan.next_block === null || rescan.to_block === null)
        return () => orLater(rescan, () => start(term, chain, rescan, final.number));
      const from = rescan.next_block;
      const to = Math.min(rescan.to_block, from + rangeSize.size() - 1);
      // After a reorg, these blocks may not be final any more. They are read once they are final again.
      if (to > final.number || !endpoints.mayBegin('rescan', 'background')) return null;
      return () => orLater(rescan, () => rescanSpan(rescan, { from, to }));
    },
  };
}

/** Determines which blocks to read. Only final ones are read again: later ones are left to the scan and may still change. */
async function start(term: Term, chain: ChainView, rescan: UnfinishedRescan, final: number): Promise<StoreResult> {
  const from =
    rescan.from_block === null
      ? await firstBlockSince(term.endpoints, chain, Math.ceil((rescan.since?.getTime() ?? 0) / 1000))
      : rescan.from_block;
  const to = Math.min(rescan.to_block ?? final, final);
  return () =>
    fencedTransaction(term, (tx) => {
      if (from <= to) return startRescan(tx, rescan.rescan_id, { from, to });
      const asked = rescan.to_block === null ? '' : ` and ends at block ${String(rescan.to_block)}`;
      const error = `there is nothing to read: it begins at block ${String(from)}${asked}, and the last final block is ${String(final)}`;
      return failRescan(tx, rescan.rescan_id, error);
    });
}

async function storeFailure(term: Term, rescan: UnfinishedRescan, error: RpcError): Promise<void> {
  const { rescan_id: id, failed_tries: failedTries } = rescan;
  const isMissing = error.kind === 'unknown_block' || error.kind === 'range';
  const isLast = isMissing && failedTries + 1 >= MAX_TRIES;
  await fencedTransaction(term, (tx) =>
    isLast ? failRescan(tx, id, missingText(rescan, error)) : delayRescan(tx, id, error.message, isMissing),
  );
  term.logger.warn(
    { network: term.network.id, rescan_id: id, error: error.message },
    isLast ? 'a rescan has failed' : 'a rescan has to wait',
  );
}

function missingText({ next_block: next }: UnfinishedRescan, { message }: RpcError): string {
  const place = next === null ? 'find the block of that time' : `read block ${String(next)} and those after it`;
  return `no endpoint could ${place}; nodes that keep no old blocks cannot be rescanned there (${message})`;
}
