import type { Payment } from '@quittance/contracts/payment.ts';
import { humanText } from '../output.ts';
import { record, sections, table } from '../text.ts';
import type { Acceptance } from './transfer.ts';

type LedgerEntry = {
  transaction_id: string;
  transaction_event_index: number;
  phase: string;
  amount: string;
  sender: string;
  block_timestamp: string;
  confirmations: number;
  confirmations_required: number;
  payment_id: string | null;
  reason: string | null;
};

export type OperatorsPayment = Payment & {
  merchant_id: string;
  transfers: LedgerEntry[];
  incidents: object[];
  acceptance: Acceptance | null;
};

export function paymentView(payment: OperatorsPayment): string {
  const { transfers, incidents, acceptance } = payment;
  const lines = record([
    ['payment', payment.payment_id],
    ['merchant', payment.merchant_id],
    ['status', payment.status],
    ['amount', `${payment.amount} ${payment.currency}`],
    ['wallet', `${payment.merchant_wallet} on ${payment.network}`],
    ['description', payment.description],
    ['created', payment.created_at],
    ['expires', payment.expires_at],
    ...(payment.paid_at === null ? [] : [['paid', payment.paid_at] as const]),
    ...(payment.cancelled_at === null ? [] : [['cancelled', payment.cancelled_at] as const]),
    ...(acceptance === null
      ? []
      : [['accepted', `${acceptance.accepted_at} by ${acceptance.actor}: ${acceptance.reason}`] as const]),
    ['link', payment.payment_url],
  ]);
  const parts: (readonly [string, string])[] = [
    ['transfers', transfersText(transfers, payment.payment_id)],
    ...(incidents.length === 0 ? [] : [['incidents', humanText(incidents)] as const]),
  ];
  return `${lines}\n\n${sections(parts)}`;
}

const transfersText = (transfers: readonly LedgerEntry[], paymentId: string): string =>
  table(transfers, [
    ['transaction', (transfer) => transfer.transaction_id],
    ['index', (transfer) => transfer.transaction_event_index],
    ['block time', (transfer) => transfer.block_timestamp],
    ['amount', (transfer) => transfer.amount],
    ['phase', (transfer) => transfer.phase],
    ['confirmations', ({ confirmations, confirmations_required: required }) => `${confirmations} of ${required}`],
    ['pays', (transfer) => (transfer.payment_id === paymentId ? 'this payment' : (transfer.reason ?? 'nothing'))],
  ]);
