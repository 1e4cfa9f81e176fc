import type { Command } from 'commander';
import {
  CancelPaymentByOperator,
  ReadPayment,
  type LedgerEntry,
  type OperatorsPayment,
} from '@quittance/contracts/http/payments/payments.ts';
import type { Payment, PaymentWarning } from '@quittance/contracts/api/payment.ts';
import {
  asks,
  authorOf,
  changes,
  idArgument,
  reads,
  type ChangeOptions,
  type JsonOption,
  type Ops,
} from '../command.ts';
import { confirm } from '../confirm.ts';
import { printResult } from '../output.ts';
import type { PaymentIncident } from '@quittance/contracts/http/payments/incidents.ts';
import { paymentFindingCommands } from './payment-finding.ts';
import { record, sections, shortTime, table } from '../text.ts';
import { candidatesText } from '../views/candidates.ts';

export function paymentCommands(program: Command, ops: Ops): void {
  const { api, config } = ops;
  const payment = program.command('payment').description('look at payments, and cancel one that waits');
  paymentFindingCommands(payment, ops);
  reads(payment.command('show'))
    .description('everything known about a payment of any merchant')
    .argument('<payment>', 'payment id', idArgument('pay'))
    .action(async (id: string, options: JsonOption) => {
      printResult(await api.call(ReadPayment, { params: { payment_id: id } }), options, paymentView);
    });
  asks(changes(payment.command('cancel')))
    .description('end a PENDING payment, as its merchant could; money that came before pays it all the same')
    .argument('<payment>', 'payment id', idArgument('pay'))
    .action(async (id: string, options: ChangeOptions) => {
      const author = authorOf(options, config);
      await confirm(async () => cancelQuestion(await api.call(ReadPayment, { params: { payment_id: id } })), options);
      printResult(
        await api.call(CancelPaymentByOperator, { params: { payment_id: id }, author }),
        options,
        cancelledView,
      );
    });
}

const cancelQuestion = ({ payment_id: id, merchant_id: merchant, status, amount, currency }: OperatorsPayment) =>
  `Cancel ${id} of ${merchant}, which is ${status} and asks for ${amount} ${currency}?`;

const cancelledView = ({ payment_id, status, cancelled_at }: Payment): string =>
  record({ payment: payment_id, status, cancelled: cancelled_at });

export function paymentView(payment: OperatorsPayment): string {
  const { transfers, incidents, acceptance, cancellation } = payment;
  const lines = record({
    payment: payment.payment_id,
    merchant: payment.merchant_id,
    status: payment.status,
    amount: `${payment.amount} ${payment.currency}`,
    wallet: `${payment.merchant_wallet} on ${payment.network}`,
    description: payment.description,
    ...(payment.warnings.length > 0 && {
      warnings: payment.warnings.map((warning) => warningTexts[warning]).join('; '),
    }),
    created: payment.created_at,
    expires: payment.expires_at,
    ...(payment.transaction?.waiting_for && { 'waits for': payment.transaction.waiting_for.replace('_', ' ') }),
    ...(payment.paid_at !== null && { paid: payment.paid_at }),
    ...(payment.cancelled_at !== null && {
      cancelled: cancellation
        ? `${shortTime(payment.cancelled_at)} by ${cancellation.actor}: ${cancellation.reason}`
        : payment.cancelled_at,
    }),
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

/** A warning without a row here does not compile. */
const warningTexts: Record<PaymentWarning, string> = {
  wallet_blacklisted: "the token's issuer has frozen this wallet",
  network_unreadable: 'the network cannot be read just now',
};

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

function paysText({ payment_id, reason, candidates }: LedgerEntry, paymentId: string): string {
  if (payment_id !== null) return payment_id === paymentId ? 'this payment' : payment_id;
  // Without a reason against it, it still has to be confirmed or decided about.
  const why = reason === null ? 'nothing yet' : `nothing: ${reason.replaceAll('_', ' ')}`;
  return candidates.length > 1 ? `${why}, ${candidatesText(candidates) ?? ''}` : why;
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
