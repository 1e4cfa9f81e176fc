import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { createRangeSize } from '../blocks/ranges.ts';
import { moveAudited, type FinalBlock } from '../leadership/cursor.sql.ts';
import { createPatience } from '../incidents/patience.ts';
import { reportIncident } from '../incidents/report.ts';
import { fencedTransaction, type ChainView, type Position, type Term } from '../leadership/term.ts';
import type { SecondReadingJob, StoreResult } from './background.ts';
import { readSpan, storeDifferences, type BlockSpan, type SecondReading } from './second-reading.ts';

/**
 * How often final blocks are read a second time, in polls: every half minute or minute. A range takes hardly more calls than one block, and
 * there is no hurry: a hidden transfer is late in any case.
 */
const POLLS_BETWEEN_AUDITS = 60;
const MIN_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 60_000;
/** How long the audit pauses after a node could not answer. */
const RETRY_MS = 5_000;
/** How long another endpoint may show other final blocks than ours before an incident is raised. */
const PATIENCE_MS = 30_000;
/** Age of a block, in chain time, at which an only endpoint is asked again. Its index may have been incomplete when the block was new. */
const SAME_ENDPOINT_AFTER_SECONDS = 60;

/**
 * Reads final blocks a second time, through an endpoint other than the one they were read from.
 * @param stored the last block that was audited before this term; null when none was, so that the audit starts where the scan did.
 */
export function createAuditJob(term: Term, { chain, heights }: Position, stored: number | null) {
  const { network, endpoints, logger } = term;
  const rangeSize = createRangeSize(network);
  const oldest = chain.heights().at(-1) ?? chain.tip().number;
  const progress = createProgress(stored ?? oldest, chain.tip().number);
  /** Monotonic milliseconds. */
  let notBefore = 0;
  const contradiction = createContradictionReport(term);

  async function auditSpan(span: BlockSpan, hasMore: boolean): Promise<StoreResult> {
    try {
      const reading = await readSpan(term, chain, span, { than: progress.sourceOf(span.from).endpoint, orSame: false });
      return () => store(reading, hasMore);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return async () => {
        retryLater(span, error);
        await contradiction.report(error, { from_block: span.from, endpoint: progress.sourceOf(span.from).endpoint });
      };
    }
  }

  async function store(reading: SecondReading, hasMore: boolean): Promise<void> {
    const { from, to } = reading;
    // In the meantime, a back-fill has read blocks below these. The audit continues there.
    if (progress.audited() !== from - 1) return;
    contradiction.ended();
    await storeDifferences(term, heights(), reading, {
      onlyMissed: true,
      store: (tx) => moveAudited(tx, network.id, to),
    });
    progress.moveTo(to);
    rangeSize.grow(to - from + 1);
    if (hasMore) notBefore = 0;
  }

  function retryLater({ from, to }: BlockSpan, error: RpcError): void {
    if (rangeSize.shrinkAfter(error, to - from + 1)) {
      notBefore = 0;
    } else {
      notBefore = performance.now() + RETRY_MS;
      logger.warn({ network: network.id, from_block: from, error: error.message }, 'the audit has to wait');
    }
  }

  return {
    async next(isAtHead: boolean): ReturnType<SecondReadingJob['next']> {
      const { final } = heights();
      if (final === null || performance.now() < notBefore) return null;
      notBefore = performance.now() + auditPauseMs(network);
      const end = lastAuditable(term, chain, final);
      const from = progress.audited() + 1;
      const to = Math.min(end, from + rangeSize.size() - 1, progress.sourceOf(from).through);
      if (to < from || !endpoints.mayBegin('audit', 'background', progress.sourceOf(from).endpoint)) return null;
      const span = { from, to: lastKnown(chain, from, to) };
      // While the scan catches up, the nodes are busy: the audit follows slowly, in large ranges.
      const hasMore = span.to < end && isAtHead;
      return () => auditSpan(span, hasMore);
    },
    audited: progress.audited,
    /** The endpoint that this block was last read from. */
    endpointOf: (number: number) => progress.sourceOf(number).endpoint,
    onRead: progress.onRead,
    onReadAgain: progress.onReadAgain,
    onRewind: progress.onRewind,
  };
}

/** Reports endpoints that show other final blocks. A chain that only one endpoint shows may hide transfers, whichever of them it is. */
function createContradictionReport(term: Term) {
  const patience = createPatience(PATIENCE_MS);
  return {
    /** @param at `endpoint`: the one that our blocks were read from. */
    async report({ kind, message }: RpcError, at: { from_block: number; endpoint: number }): Promise<void> {
      if (kind !== 'invalid_answer' || !patience.isOver('final blocks')) return;
      const incident = { kind: 'endpoints_disagree', cause: 'audit', detail: { ...at, answer: message } } as const;
      await fencedTransaction(term, (tx) =>
        reportIncident(tx, term, incident, 'endpoints disagree about final blocks'),
      );
    },
    ended: (): void => patience.ended('final blocks'),
  };
}

/** Milliseconds between two ranges while the audit is not behind. */
export const auditPauseMs = ({ poll_interval_ms: pollMs }: { poll_interval_ms: number }): number =>
  Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, POLLS_BETWEEN_AUDITS * pollMs));

/** The end of a span: a block whose hash we know, if there is one, so that the node's answer can be compared with it. */
function lastKnown(chain: ChainView, from: number, to: number): number {
  const known = chain.atOrBelow(to)?.number ?? -1;
  return known >= from ? known : to;
}

/** The last final block. With only one endpoint, the last block that is old enough to be read again, or −1. */
function lastAuditable({ network }: Term, chain: ChainView, final: FinalBlock): number {
  if (network.endpoints.length > 1) return final.number;
  return Math.min(final.number, chain.before(final.timestamp - SAME_ENDPOINT_AFTER_SECONDS)?.number ?? -1);
}

/** Endpoints rarely change. If they change all the time, the oldest spans are forgotten. */
const MAX_SPANS = 1_000;

/**
 * How far the audit has come, and which endpoint each later block was last read from, so that the audit asks another one.
 * @param stored the last block that was audited before this term.
 * @param scanned the last block that was scanned before this term.
 */
export function createProgress(stored: number, scanned: number) {
  let audited = stored;
  let spans = [{ through: scanned, endpoint: 0 }];
  const sourceOf = (number: number) =>
    spans.find(({ through }) => through >= number) ?? { endpoint: 0, through: number };

  function lower(number: number): void {
    audited = Math.min(audited, number);
  }

  return {
    /** The last block that was read a second time. */
    audited: () => audited,
    /** The blocks up to this height have been read a second time. */
    moveTo(number: number): void {
      audited = number;
      spans = spans.filter(({ through }, position) => through > number || position === spans.length - 1);
    },
    /** The blocks from the last noted height up to this one were read from this endpoint. */
    onRead(through: number, endpoint: number): void {
      const last = spans.at(-1);
      if (last !== undefined && through <= last.through) return;
      if (last?.endpoint === endpoint) last.through = through;
      else spans.push({ through, endpoint });
      if (spans.length > MAX_SPANS) spans.shift();
    },
    /** These blocks, both ends included, were read again for other wallets, so they are audited again. */
    onReadAgain({ from, through }: { from: number; through: number }, endpoint: number): void {
      const below = { through: from - 1, endpoint: sourceOf(from - 1).endpoint };
      const all = [
        ...spans.filter((span) => span.through < below.through),
        below,
        { through, endpoint },
        ...spans.filter((span) => span.through > through),
      ];
      // Two neighbouring spans of one endpoint become one.
      spans = all.filter((span, position) => all[position + 1]?.endpoint !== span.endpoint).slice(-MAX_SPANS);
      lower(from - 1);
    },
    /**
     * The endpoint this block was read from, and the last block for which that holds. Blocks from before this term count as read from
     * endpoint 0, which is asked first.
     */
    sourceOf,
    /** The blocks above this height are gone. */
    onRewind(number: number): void {
      lower(number);
      const kept = spans.filter(({ through }) => through <= number);
      const cut = spans[kept.length];
      spans = cut === undefined ? kept : [...kept, { ...cut, through: number }];
    },
  };
}
