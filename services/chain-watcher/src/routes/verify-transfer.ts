import { addressFromHex } from '@quittance/contracts/address.ts';
import { VerifyTransfer, type Finding } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import {
  contradicts,
  gatherEvidence,
  isAgreed,
  isConclusive,
  type EventId,
  type Evidence,
} from '@quittance/chain-reader/chain/verify.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { unavailable } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { DeadlineExceeded, withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { readCursor } from '../store/cursor.ts';

/** An operator waits for the answer, but not for every endpoint's own deadline in turn. */
const DEADLINE_MS = 6_000;

type WatchedNetwork = { network: ChainNetwork; endpoints: Endpoints };

export const verifyTransferRoute = ({ pool, networks }: { pool: Pool; networks: readonly WatchedNetwork[] }): Route =>
  callRoute(VerifyTransfer, async ({ body }): Promise<Finding> => {
    const watched = networks.find(({ network }) => network.id === body.network);
    if (watched === undefined) return { finding: 'undecided', reason: 'network_unknown' };
    // Its nodes contradicted what they had called final, so until an operator has looked their word is not enough to move money.
    const cursor = await readCursor(pool, body.network);
    if (cursor?.state === 'halted') return { finding: 'undecided', reason: 'network_halted' };
    const event = { transactionId: body.transaction_id, transactionEventIndex: body.transaction_event_index };
    const evidence = await ask(watched, event, cursor?.hasNamedFinal ?? false);
    return toFinding(watched.network, evidence);
  });

/**
 * The best evidence that the endpoints give.
 * @throws HttpError 503 when none of them answers in time, or when they follow different chains.
 */
async function ask({ network, endpoints }: WatchedNetwork, event: EventId, hasNamedFinal: boolean): Promise<Evidence> {
  try {
    const asking = endpoints.askUntil(
      (rpc) => gatherEvidence(rpc, network, event, hasNamedFinal),
      (answers) => isAgreed(network, answers) || answers.some(isConclusivelyAbsent),
    );
    const evidence = await withTimeout(DEADLINE_MS, asking);
    if (contradicts(evidence)) throw unavailable(new Error('the endpoints follow different chains'));
    const best = evidence.find(isConclusive) ?? evidence.find(({ kind }) => kind === 'present') ?? evidence[0];
    if (best === undefined) throw new Error('endpoints give at least one answer or fail');
    // One node alone is not enough where the network asks for two.
    return best.kind === 'present' ? { ...best, isFinal: isAgreed(network, evidence) } : best;
  } catch (error) {
    throw error instanceof RpcError || error instanceof DeadlineExceeded ? unavailable(error) : error;
  }
}

const isConclusivelyAbsent = (evidence: Evidence): boolean => evidence.kind === 'absent' && isConclusive(evidence);

function toFinding(network: ChainNetwork, evidence: Evidence): Finding {
  if (evidence.kind === 'absent') return { finding: 'absent', reason: evidence.reason };
  const { transfer, confirmations, isFinal } = evidence;
  return {
    finding: 'present',
    is_final: isFinal,
    block_number: transfer.blockNumber,
    block_hash: transfer.blockHash,
    block_timestamp: rfc3339(new Date(transfer.blockTimestamp * 1000)),
    from: addressFromHex(network.family, transfer.from),
    to: addressFromHex(network.family, transfer.to),
    amount_units: transfer.amountUnits.toString(),
    decimals: network.decimals,
    confirmations,
    confirmations_required: network.confirmations,
  };
}
