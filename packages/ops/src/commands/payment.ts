import type { Command } from 'commander';
import { ReadPayment, type LedgerEntry, type OperatorsPayment } from '@quittance/contracts/http/payments/payments.ts';
import { idArgument, reads, type JsonOption, type Ops } from '../command.ts';
import { printResult } from '../output.ts';
import type { PaymentIncident } from '@quittance/contracts/http/payments/incidents.ts';
import { paymentFindingCommands } from './payment-finding.ts';
import { record, sections, shortTime, table } from '../text.ts';

export function paymentCommands(program: Command, ops: Ops): void {
  const { api } = ops;
  const payment = program.command('payment').description('look at payments');
  paymentFindingCommands(payment, ops);
  reads(payment.command('show'))
    .description('everything known about a payment of any merchant')
    .argument('<payment>', 'payment id', idArgument('pay'))
    .action(async (id: string, options: JsonOption) => {
      printResult(await api.call(ReadPayment, { params: { payment_id: id } }), options, paymentView);
    });
}

export function paymentView(payment: OperatorsPayment): string {
  const { transfers, incidents, acceptance } = payment;
  const lines = record({
    payment: payment.payment_id,
    merchant: payment.merchant_id,
    status: payment.status,
    amount: `${payment.amount} ${payment.currency}`,
    wallet: `${payment.merchant_wallet} on ${payment.network}`,
    description: payment.description,
    created: payment.created_at,
    expires: payment.expires_at,
    ...(payment.transaction?.waiting_for && { 'waits for': payment.transaction.waiting_for.replace('_', ' ') }),
    ...(payment.paid_at !== null && { paid: payment.paid_at }),
    ...(payment.cancelled_at !== null && { cancelled: payment.cancelled_at }),
    ...(acceptance !== null && {
      accepted: `${shortTime(acceptance.accepted_at)} by ${acceptance.actor}: ${acceptance.reason}`,
    }),
    link: payment.payment_url,
  });
  const parts: (readonly [string, string])[] = [
    ['transfers', transfersText(transfers, payment.payment_id)],
    ...(incidents.length === 0 ? [] : [['incidents', incidentsText(incidents)] as const]),
  ];
  return `${lines}\n\n${sections(parts)}`;
}

const transfersText = (transfers: readonly LedgerEntry[], paymentId: string): string =>
  table(transfers, {
    transaction: 'transaction_id',
    index: 'transaction_event_index',
    'block time': 'block_timestamp',
    amount: 'amount',
    phase: 'phase',
    confirmations: ({ confirmations, confirmations_required: required }) => `${confirmations} of ${required}`,
    pays: (transfer) => paysText(transfer, paymentId),
  });

function paysText({ payment_id, reason }: LedgerEntry, paymentId: string): string {
  if (payment_id !== null) return payment_id === paymentId ? 'this payment' : payment_id;
  // Without a reason against it, it still has to be confirmed or decided about.
  return reason === null ? 'nothing yet' : `nothing: ${reason}`;
}

/** Which payment and merchant each is about stands above it already. */
const incidentsText = (incidents: readonly PaymentIncident[]): string =>
  table(incidents, {
    incident: 'incident_id',
    kind: 'kind',
    transaction: 'transaction_id',
    index: 'transaction_event_index',
    opened: 'opened_at',
    resolved: 'resolved_at',
    by: 'resolved_by',
    why: 'resolved_reason',
  });
