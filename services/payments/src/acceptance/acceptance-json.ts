import { formatUnits } from '@quittance/contracts/amount.ts';
import type { Acceptance, AcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import { rfc3339, withTextTimes } from '@quittance/runtime/time.ts';
import { reasonShown } from '../settlement/payment-window.ts';
import type { AcceptanceRow } from '../store/acceptance.ts';
import type { Pair } from './accept-transfer.ts';
import type { Standing } from './standing.ts';

/** An acceptance as the operator gets it. It never changes afterwards, so a repeated one is answered byte for byte the same. */
export const toAcceptance = ({ amount_units, decimals, recipient: _, ...row }: AcceptanceRow): Acceptance => ({
  ...withTextTimes(row),
  status: 'PAID',
  amount: formatUnits(BigInt(amount_units), decimals),
  block_number: Number(row.block_number),
});

/** A transfer of the ledger beside a payment for which it may be accepted, for the operator to compare. */
export const toCandidate = ({ standing, ...pair }: Pair & { standing: Standing }): AcceptanceCandidate => ({
  payment_id: pair.payment.payment_id,
  merchant_id: pair.payment.merchant_id,
  status: pair.payment.status,
  expected_amount: pair.payment.amount,
  network: pair.transfer.network,
  transaction_id: pair.transfer.transaction_id,
  transaction_event_index: pair.transfer.transaction_event_index,
  amount: formatUnits(BigInt(pair.transfer.amount_units), pair.transfer.decimals),
  unmatched_reason: reasonShown(pair.payment, pair.transfer),
  recipient: pair.transfer.recipient,
  block_timestamp: rfc3339(pair.transfer.block_timestamp),
  phase: pair.transfer.phase,
  pays: pair.transfer.payment_id,
  candidates: standing.candidates.map(({ payment_id: id }) => id),
});
