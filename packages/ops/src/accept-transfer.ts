import type { Author } from '@quittance/contracts/author.ts';
import {
  AcceptTransfer,
  ReadAcceptanceCandidate,
  type Acceptance,
  type AcceptanceCandidate,
  type AcceptedTransfer,
} from '@quittance/contracts/http/payments/acceptance.ts';
import type { Api } from './api.ts';
import { confirm, type Terminal } from './confirm.ts';
import { Failure } from './failure.ts';
import { shortTime } from './text.ts';

type Asked = { paymentId: string; transfer: AcceptedTransfer; author: Author };
type Options = { yes?: boolean; json?: boolean };

/**
 * Accepts a transfer, once a person has seen the amounts and all payments that it may be for. With --yes or --json nobody sees them, so that
 * of several the number must be in `transfer`.
 */
export async function acceptTransfer(
  api: Api,
  { paymentId, transfer, author }: Asked,
  options: Options,
  terminal: Terminal = process,
): Promise<Acceptance> {
  const { transaction_id, transaction_event_index: index } = transfer;
  const params = { payment_id: paymentId, transaction_id, transaction_event_index: String(index) };
  const read = () => api.call(ReadAcceptanceCandidate, { params });
  const send = (seen?: AcceptanceCandidate) =>
    api.call(AcceptTransfer, { params: { payment_id: paymentId }, body: { ...confirmed(seen), ...transfer }, author });

  const seen: AcceptanceCandidate[] = [];
  const ask = async () => {
    const candidate = await read();
    seen.push(candidate);
    return acceptQuestion(candidate);
  };
  await confirm(ask, options, terminal);
  const [shown] = seen;
  try {
    return await send(shown);
  } catch (error) {
    if (shown === undefined || !(error instanceof Failure) || error.kind !== 'refused') throw error;
    // What only the chain had is in the ledger now, with payments that it may be for and that nobody has seen.
    const now = await read();
    if (now.candidates.join() === shown.candidates.join()) throw error;
    await confirm(acceptQuestion(now), options, terminal);
    return send(now);
  }
}

const confirmed = (seen?: AcceptanceCandidate): { confirm_candidates?: number } =>
  seen !== undefined && seen.candidates.length > 1 ? { confirm_candidates: seen.candidates.length } : {};

/** It shows both amounts, the reason and all payments that are possible, so that the operator who confirms has seen them. */
export function acceptQuestion(candidate: AcceptanceCandidate): string {
  const { payment_id: id, status, expected_amount, amount, unmatched_reason, block_timestamp, candidates } = candidate;
  const reason = unmatched_reason?.replaceAll('_', ' ') ?? 'no reason against it';
  const transfer = `the transfer of ${amount} USDT (${reason}, ${shortTime(block_timestamp)})`;
  const question = `Accept ${transfer} for ${id}, which is ${status} and asks for ${expected_amount} USDT? It becomes PAID for good.`;
  if (candidates.length <= 1) return question;
  return `This transfer may be for ${candidates.length} payments: ${candidates.join(', ')}; is it for ${id}? ${question}`;
}
