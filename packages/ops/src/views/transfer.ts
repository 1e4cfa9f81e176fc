import type { Acceptance, AcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import { record, shortTime } from '../text.ts';

/** It shows both amounts and the reason, so that the operator who confirms has seen them. */
export function acceptQuestion(candidate: AcceptanceCandidate): string {
  const { payment_id, status, expected_amount, amount, unmatched_reason, block_timestamp } = candidate;
  const reason = unmatched_reason ?? 'no reason against it';
  const transfer = `the transfer of ${amount} USDT (${reason}, ${shortTime(block_timestamp)})`;
  return `Accept ${transfer} for ${payment_id}, which is ${status} and asks for ${expected_amount} USDT? It becomes PAID for good.`;
}

export const acceptanceView = (acceptance: Acceptance): string =>
  record({
    payment: acceptance.payment_id,
    merchant: acceptance.merchant_id,
    status: `${acceptance.status}, ${acceptance.status_before} before`,
    'asked for': `${acceptance.expected_amount} USDT`,
    accepted: `${acceptance.amount} USDT, ${acceptance.unmatched_reason ?? 'no reason against it'}`,
    transaction: acceptance.transaction_id,
    index: String(acceptance.transaction_event_index),
    network: acceptance.network,
    'block time': acceptance.block_timestamp,
    confirmations: String(acceptance.confirmations),
    who: acceptance.actor,
    why: acceptance.reason,
    when: acceptance.accepted_at,
  });
