import { record, shortTime } from '../text.ts';

/** A transfer of the ledger beside the payment that it may be accepted for. */
export type Candidate = {
  payment_id: string;
  status: string;
  expected_amount: string;
  network: string;
  transaction_id: string;
  transaction_event_index: number;
  amount: string;
  unmatched_reason: string | null;
  block_timestamp: string;
};

export type Acceptance = Candidate & {
  merchant_id: string;
  status_before: string;
  confirmations: number;
  actor: string;
  reason: string;
  accepted_at: string;
};

/** Both amounts and the reason stand in it, so that whoever says yes has seen them. */
export function acceptQuestion(candidate: Candidate): string {
  const { payment_id, status, expected_amount, amount, unmatched_reason, block_timestamp } = candidate;
  const reason = unmatched_reason ?? 'no reason against it';
  const transfer = `the transfer of ${amount} USDT (${reason}, ${shortTime(block_timestamp)})`;
  return `Accept ${transfer} for ${payment_id}, which is ${status} and asks for ${expected_amount} USDT? It becomes PAID for good.`;
}

export const acceptanceView = (acceptance: Acceptance): string =>
  record([
    ['payment', acceptance.payment_id],
    ['merchant', acceptance.merchant_id],
    ['status', `${acceptance.status}, ${acceptance.status_before} before`],
    ['asked for', `${acceptance.expected_amount} USDT`],
    ['accepted', `${acceptance.amount} USDT, ${acceptance.unmatched_reason ?? 'no reason against it'}`],
    ['transaction', acceptance.transaction_id],
    ['index', String(acceptance.transaction_event_index)],
    ['network', acceptance.network],
    ['block time', acceptance.block_timestamp],
    ['confirmations', String(acceptance.confirmations)],
    ['who', acceptance.actor],
    ['why', acceptance.reason],
    ['when', acceptance.accepted_at],
  ]);
