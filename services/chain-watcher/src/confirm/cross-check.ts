import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import {
  gatherEvidence,
  isAgreed,
  isConclusive,
  isSameTransfer,
  type Evidence,
} from '@quittance/chain-reader/chain/verify.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { backoffMs, type Backoff } from '@quittance/runtime/concurrency/backoff.ts';
import { withTimeout, DeadlineExceeded } from '@quittance/runtime/concurrency/deadline.ts';
import { createPatience } from '../incidents/patience.ts';
import { reportIncident } from '../incidents/report.ts';
import type { Position } from '../leadership/term.ts';
import { fencedTransaction, type Term } from '../leadership/term.ts';
import { publishTransfers, recordTransfers } from '../transfers/publish.ts';
import { confirmAgreed, readAwaitingCrossCheck, toTransfer, type TransferRow } from '../transfers/transfer.sql.ts';
import { createBlockAgreement, isProvenTransfer } from './block-agreement.ts';

const MAX_AT_ONCE = 20;
/** Where blocks are proven, all transfers of a block cost the same calls as one. */
const MAX_PROVEN_AT_ONCE = 400;
/** How long to wait after a failed cross-check. An endpoint may lag or be down for hours. */
const RETRY: Backoff = { firstMs: 1_000, maxMs: 10_000 };
/** New blocks wait during a cross-check. */
const DEADLINE_MS = 2_000;
/** How long endpoints may contradict each other before an incident is raised: a receipt often appears a little later than its block. */
const PATIENCE_MS = 5_000;

/**
 * Confirms the transfers for which one endpoint's answer is not enough: large ones, and where blocks are proven all of them. For proven
 * blocks see createBlockAgreement(). On other networks at least two endpoints must show the transfer at the same place and final. Each
 * transfer is read again from the chain, independently of what is stored. While a second endpoint is silent or lags, the transfer waits.
 * When endpoints contradict each other, an incident is raised, and the transfer waits, too.
 * run() returns whether more can be confirmed at once.
 */
export function createCrossCheckJob(term: Term, position: Position): { run(): Promise<{ more: boolean }> } {
  const { network, endpoints, pool, metrics, logger } = term;
  const [agree, { heights }] = [createBlockAgreement(term, position), position];
  const patience = createPatience(PATIENCE_MS);
  /** How many transfers that cannot be confirmed yet come before the next ones to check. */
  let offset = 0;
  let notBefore = 0;
  /** Runs in a row in which no transfer could be confirmed. */
  let failures = 0;

  /** @returns whether the transfer needs no further cross-check. */
  async function crossCheck(row: TransferRow): Promise<boolean> {
    const event = { transactionId: row.transaction_id, transactionEventIndex: row.transaction_event_index };
    const asking = endpoints.askUntil(
      (rpc) => gatherEvidence(rpc, network, event, heights().hasNamedFinal),
      (answers) => isAgreed(network, answers),
    );
    const evidence = await withTimeout(DEADLINE_MS, asking);
    const stored = toTransfer(row);
    if (evidence.some((one) => contradictsStored(one, stored))) {
      if (patience.isOver(event.transactionId)) await reportDisagreement(term, row, evidence);
      return false;
    }
    patience.ended(event.transactionId);
    if (!isAgreed(network, evidence)) return false;
    const confirmed = await fencedTransaction(term, async (tx) => {
      const changed = await confirmAgreed(tx, network.id, [row], 2);
      const tip = Math.max(heights().confirmingTip, provenTip(stored, evidence));
      await publishTransfers(tx, term, changed, tip);
      return changed;
    });
    recordTransfers(term, confirmed);
    return true;
  }

  return {
    async run() {
      if (network.crossCheckedAbove === null || performance.now() < notBefore) return { more: false };
      const limit = network.isProven ? MAX_PROVEN_AT_ONCE : MAX_AT_ONCE;
      const waiting = await readAwaitingCrossCheck(pool, network, heights(), { offset, limit });
      let left = await agree(waiting.filter(isProvenTransfer));
      let endpointsHang = false;
      for (const row of waiting.filter((one) => !isProvenTransfer(one))) {
        try {
          if (await crossCheck(row)) continue;
        } catch (error) {
          if (!(error instanceof RpcError || error instanceof DeadlineExceeded)) throw error;
          logger.warn({ network: network.id, error: error.message }, 'a transfer has to wait for a second endpoint');
          if (error instanceof DeadlineExceeded) endpointsHang = true;
        }
        left += 1;
        if (endpointsHang) break;
      }
      metrics.awaitingCrossCheck.set({ network: network.id }, offset + left);
      failures = left > 0 && left === waiting.length ? failures + 1 : 0;
      if (left > 0) notBefore = performance.now() + backoffMs(Math.max(0, failures - 1), RETRY);
      // Transfers that may wait forever must not keep the others from being checked.
      offset = waiting.length < limit ? 0 : offset + left;
      return { more: waiting.length === limit && left === 0 };
    },
  };
}

/**
 * The height from which the endpoints count confirmations. Ours may be lower while a new leader catches up: it counts from its own tip,
 * although the block was final before.
 */
function provenTip({ blockNumber }: Transfer, evidence: readonly Evidence[]): number {
  const counts = evidence.flatMap((one) => (one.kind === 'present' && one.isFinal ? [one.confirmations] : []));
  return blockNumber + Math.min(...counts) - 1;
}

/** A node that lags does not contradict the transfer. One that has its block height, but not the transfer, does. */
function contradictsStored(evidence: Evidence, stored: Transfer): boolean {
  if (evidence.kind === 'present') return !isSameTransfer(evidence.transfer, stored);
  return isConclusive(evidence) || evidence.head >= stored.blockNumber;
}

async function reportDisagreement(term: Term, row: TransferRow, evidence: readonly Evidence[]): Promise<void> {
  const detail = {
    transaction_id: row.transaction_id,
    transaction_event_index: row.transaction_event_index,
    block_number: Number(row.block_number),
    answers: evidence.map((one) => (one.kind === 'absent' ? one.reason : one.transfer.blockHash)),
  };
  const incident = { kind: 'endpoints_disagree', detail } as const;
  await fencedTransaction(term, (tx) =>
    reportIncident(tx, term, incident, 'endpoints disagree about a large transfer'),
  );
}
