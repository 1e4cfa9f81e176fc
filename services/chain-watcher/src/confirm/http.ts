import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import {
  contradicts,
  gatherEvidenceOfAll,
  isAgreed,
  isConclusive,
  type EventId,
  type Evidence,
} from '@quittance/chain-reader/chain/verify.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { VerifyTransfer, type Finding } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import { unavailable } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { createBatchedCall } from '@quittance/runtime/concurrency/batched-call.ts';
import { withTimeout, DeadlineExceeded } from '@quittance/runtime/concurrency/deadline.ts';
import { Overloaded } from '@quittance/runtime/concurrency/overloaded.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { readCursor } from '../leadership/cursor.sql.ts';
import type { WatchedNetwork } from '../leadership/term.ts';

/** An operator waits for the answer, but not for the deadline of one endpoint after the other. */
const DEADLINE_MS = 6_000;

/**
 * Requests at the same time share one reading. A single one takes about twenty calls while its block is not final. Ten of them would take
 * more than a plan of 15 requests a second allows before the deadline.
 */
const batching = { maxBatch: 20, concurrency: 1, maxWaiting: 200, timeoutMs: DEADLINE_MS };

type Question = { event: EventId; hasNamedFinal: boolean };

export function verifyTransferRoute({ pool, networks }: { pool: Pool; networks: readonly WatchedNetwork[] }): Route {
  const verifiers = new Map(networks.map((watched) => [watched.network.id, createVerifier(watched)]));
  return callRoute(VerifyTransfer, async ({ body }): Promise<Finding> => {
    const verify = verifiers.get(body.network);
    if (verify === undefined) return { finding: 'undecided', reason: 'network_unknown' };
    // The network's nodes contradicted what was final. Until an operator has looked at it, their answers must not move money.
    const cursor = await readCursor(pool, body.network);
    if (cursor?.state === 'halted') return { finding: 'undecided', reason: 'network_halted' };
    const event = { transactionId: body.transaction_id, transactionEventIndex: body.transaction_event_index };
    return verify({ event, hasNamedFinal: cursor?.hasNamedFinal ?? false });
  });
}

/** @returns a function that throws HttpError 503 when no endpoint answers in time, or when the endpoints follow different chains. */
function createVerifier({ network, endpoints }: WatchedNetwork): (question: Question) => Promise<Finding> {
  const ask = createBatchedCall<Question, readonly (Evidence | RpcError)[], Evidence>({
    ...batching,
    keyOf: ({ event }) => `${event.transactionId} ${event.transactionEventIndex}`,
    run: (batch) =>
      withTimeout(
        DEADLINE_MS,
        askEndpoints(
          { network, endpoints },
          batch.map(({ input }) => input),
        ),
      ),
    answerOf: (answers) => bestOf(network, answers),
  });
  return async (question) => {
    try {
      return toFinding(network, await ask(question));
    } catch (error) {
      const isNoAnswer = error instanceof RpcError || error instanceof DeadlineExceeded || error instanceof Overloaded;
      throw isNoAnswer ? unavailable(error) : error;
    }
  };
}

/** @returns for each question the endpoints' answers, in the order in which the endpoints were asked. */
async function askEndpoints(
  { network, endpoints }: WatchedNetwork,
  questions: readonly Question[],
): Promise<(Evidence | RpcError)[][]> {
  const events = questions.map(({ event }) => event);
  const hasNamedFinal = questions.some((question) => question.hasNamedFinal);
  const answersAbout = (readings: readonly (Evidence | RpcError)[][]) =>
    events.map((_, index) => readings.flatMap((reading) => reading[index] ?? []));
  const readings = await endpoints.askUntil(
    (rpc) => gatherEvidenceOfAll(rpc, network, events, hasNamedFinal),
    (soFar) => answersAbout(soFar).every((answers) => isDecided(network, answers.filter(isEvidence))),
  );
  return answersAbout(readings);
}

const isError = (answer: Evidence | RpcError): answer is RpcError => answer instanceof RpcError;
const isEvidence = (answer: Evidence | RpcError): answer is Evidence => !isError(answer);

const isDecided = (network: ChainNetwork, answers: readonly Evidence[]): boolean =>
  isAgreed(network, answers) || answers.some((evidence) => evidence.kind === 'absent' && isConclusive(evidence));

/**
 * The best evidence of the endpoints.
 * @throws RpcError when there is none; HttpError 503 when the endpoints follow different chains.
 */
function bestOf(network: ChainNetwork, answers: readonly (Evidence | RpcError)[]): Evidence {
  const evidence = answers.filter(isEvidence);
  if (contradicts(evidence)) throw unavailable(new Error('the endpoints follow different chains'));
  const best = evidence.find(isConclusive) ?? evidence.find(({ kind }) => kind === 'present') ?? evidence[0];
  if (best === undefined) throw answers.find(isError) ?? new Error('an endpoint answers or fails');
  // One node alone is not enough when the network requires two.
  return best.kind === 'present' ? { ...best, isFinal: isAgreed(network, evidence) } : best;
}

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
