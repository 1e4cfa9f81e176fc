import { addressFromHex } from '@quittance/contracts/address.ts';
import { readJson } from '@quittance/http/server/body.ts';
import { invalid, unavailable, type ValidationItem } from '@quittance/http/errors.ts';
import { route, type Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { DeadlineExceeded, withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import {
  contradicts,
  gatherEvidence,
  isAgreed,
  isConclusive,
  type EventId,
  type Evidence,
} from '@quittance/chain-reader/chain/verify.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { readCursor } from '../store/cursor.ts';

const MAX_BODY_BYTES = 4 * 1024;
/** Whoever asks waits for a person, but not for every endpoint's own deadline in turn. */
const DEADLINE_MS = 6_000;
const MAX_POSITION = 2 ** 31 - 1;

type WatchedNetwork = { network: ChainNetwork; endpoints: Endpoints };

/**
 * POST /internal/v1/transfers/verify { network, transaction_id, transaction_event_index } → what the chain says of this transfer now:
 * - { finding: 'present', is_final, block_number, block_hash, block_timestamp, from, to, amount_units, decimals, confirmations,
 *   confirmations_required }
 * - { finding: 'absent', reason }: no endpoint shows it; see Absence.
 * - { finding: 'undecided', reason: 'network_unknown' | 'network_halted' }: nothing that endpoints say of this network counts.
 * 503 when no endpoint gives a usable answer in time. It reads the chain itself and none of the transfers stored here, so it also
 * speaks of wallets that nobody watches any more. What payments asks before an operator makes a transfer pay a payment.
 */
export function verifyTransferRoute({ pool, networks }: { pool: Pool; networks: readonly WatchedNetwork[] }): Route {
  return route({
    method: 'POST',
    path: '/internal/v1/transfers/verify',
    async handle(request) {
      const { network: id, ...event } = await readJson(request, MAX_BODY_BYTES, parseQuestion);
      const watched = networks.find(({ network }) => network.id === id);
      if (watched === undefined) return undecided('network_unknown');
      // Its nodes contradicted what they had called final, so until somebody has looked their word is not enough to move money.
      if ((await readCursor(pool, id))?.state === 'halted') return undecided('network_halted');
      const evidence = await ask(watched, event);
      return { status: 200, body: toAnswer(watched.network, evidence) };
    },
  });
}

/**
 * The best of what the endpoints say.
 * @throws HttpError 503 when none of them says anything in time, or when they follow different chains.
 */
async function ask({ network, endpoints }: WatchedNetwork, event: EventId): Promise<Evidence> {
  try {
    const asking = endpoints.askUntil(
      (rpc) => gatherEvidence(rpc, network, event),
      (answers) => isAgreed(network, answers) || answers.some(isConclusivelyAbsent),
    );
    const said = await withTimeout(DEADLINE_MS, asking);
    if (contradicts(said)) throw unavailable(new Error('the endpoints follow different chains'));
    const best = said.find(isConclusive) ?? said.find(({ kind }) => kind === 'present') ?? said[0];
    if (best === undefined) throw new Error('endpoints give at least one answer or fail');
    // One node alone is not enough where the network asks for two.
    return best.kind === 'present' ? { ...best, isFinal: isAgreed(network, said) } : best;
  } catch (error) {
    throw error instanceof RpcError || error instanceof DeadlineExceeded ? unavailable(error) : error;
  }
}

const isConclusivelyAbsent = (evidence: Evidence): boolean => evidence.kind === 'absent' && isConclusive(evidence);

const undecided = (reason: 'network_unknown' | 'network_halted') => ({
  status: 200,
  body: { finding: 'undecided', reason },
});

function toAnswer(network: ChainNetwork, evidence: Evidence): object {
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

function parseQuestion(body: Record<string, unknown>): { network: string } & EventId {
  const { network, transaction_id: transactionId, transaction_event_index: position } = body;
  const problems: ValidationItem[] = [];
  if (typeof network !== 'string') problems.push({ field: 'network', reason: 'must be a string' });
  if (typeof transactionId !== 'string' || !/^[0-9a-f]{64}$/.test(transactionId))
    problems.push({ field: 'transaction_id', reason: 'must be 64 lowercase hexadecimal characters' });
  if (!Number.isInteger(position) || Number(position) < 0 || Number(position) > MAX_POSITION)
    problems.push({ field: 'transaction_event_index', reason: 'must be a whole number, 0 or more' });
  if (problems.length > 0) throw invalid(...problems);
  return {
    network: network as string,
    transactionId: transactionId as string,
    transactionEventIndex: position as number,
  };
}
