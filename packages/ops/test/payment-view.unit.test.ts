import { noOptions } from '@quittance/contracts/api/creation.ts';
import { expect, test } from '@jest/globals';
import type { PaymentIncident } from '@quittance/contracts/http/incidents.ts';
import type { OperatorsPayment } from '@quittance/contracts/http/payments/payments.ts';
import { paymentView as viewOf } from '@quittance/operator/payments.ts';
import { viewText } from '../src/text.ts';

const paymentView = (payment: OperatorsPayment): string => viewText(viewOf(payment));

const paymentId = `pay_${'b'.repeat(32)}`;
const transfer: OperatorsPayment['transfers'][number] = {
  transaction_id: 'c'.repeat(64),
  transaction_event_index: 0,
  phase: 'confirmed',
  amount: '9.5',
  sender: '0x0',
  block_number: 1,
  block_timestamp: '2026-01-31T12:00:00.000Z',
  observed_at: '2026-01-31T12:00:03.000Z',
  confirmations: 2,
  confirmations_required: 2,
  payment_id: null,
  reason: 'underpaid',
  candidates: [paymentId],
};
const payment: OperatorsPayment = {
  payment_id: paymentId,
  payment_url: 'https://pay.example/pay/token',
  status: 'PAID',
  amount: '10.50',
  currency: 'USDT',
  network: 'local',
  merchant_wallet: '0x0',
  description: 'Tea',
  created_at: '2026-01-31T11:59:00.000Z',
  expires_at: '2026-01-31T12:29:00.000Z',
  paid_at: '2026-01-31T12:00:05.000Z',
  cancelled_at: null,
  transaction: null,
  ...noOptions,
  metadata: {},
  requested_amount: '10.50',
  reference: 'BBBBBBBB',
  ...{ dedicated: false, derivation_index: null, received_amount: null, rate: null },
  merchant_id: `mer_${'a'.repeat(32)}`,
  warnings: [],
  transfers: [transfer],
  incidents: [],
  acceptance: null,
};

test('a transfer says which payment it pays, or that it pays nothing, or nothing yet, and why', () => {
  const other = `pay_${'d'.repeat(32)}`;
  const transfers = [
    transfer,
    { ...transfer, reason: null },
    { ...transfer, payment_id: paymentId, reason: null },
    { ...transfer, payment_id: other, reason: null },
  ];
  const lines = paymentView({ ...payment, transfers })
    .split('\n')
    .slice(-4);
  for (const [at, pays] of ['nothing: underpaid', 'nothing yet', 'this payment', other].entries())
    expect(lines[at]?.endsWith(`2 of 2         ${pays}`)).toBe(true);
});

test('a transfer that may be for several payments says for how many, and names some of them', () => {
  const candidates = ['a', 'b', 'c', 'd', 'e'].map((letter) => `pay_${letter.repeat(32)}`);
  const pays = (some: string[]) =>
    paymentView({ ...payment, transfers: [{ ...transfer, reason: 'ambiguous', candidates: some }] });
  const [a, b, c] = candidates;
  expect(pays(candidates.slice(0, 2))).toMatch(new RegExp(`nothing: ambiguous, may be for 2 payments: ${a}, ${b}$`));
  expect(pays(candidates)).toMatch(new RegExp(`may be for 5 payments: ${a}, ${b}, ${c} and 2 more$`));
});

test('a frozen wallet and a network that cannot be read are said', () => {
  const text = paymentView({ ...payment, warnings: ['wallet_blacklisted', 'network_unreadable'] });
  expect(text).toMatch(/warnings +the token's issuer has frozen this wallet; the network cannot be read just now\n/);
  expect(paymentView(payment)).not.toContain('warnings');
});

test('a payment whose transfer has to wait says for what', () => {
  const transaction = {
    ...{ transaction_id: transfer.transaction_id, transaction_event_index: 0, block_number: 7 },
    ...{ amount: '10.5', accepted: false, block_timestamp: transfer.block_timestamp },
    ...{ confirmations: 12, confirmations_required: 12, waiting_for: 'second_endpoint' as const },
  };
  expect(paymentView({ ...payment, status: 'CHECKING', transaction })).toContain('second endpoint\n');
  expect(paymentView({ ...payment, transaction: { ...transaction, waiting_for: null } })).not.toContain('waits for');
});

test('an acceptance has its time as everything else has', () => {
  const acceptance = { accepted_at: '2026-01-31T12:30:00.000Z', actor: 'olga', reason: 'agreed' };
  const text = paymentView({ ...payment, acceptance: acceptance as OperatorsPayment['acceptance'] });
  expect(text).toContain('accepted     2026-01-31 12:30:00Z by olga: agreed\n');
});

test('an incident says what is gone and who has dealt with it, and repeats nothing that stands above it', () => {
  const incident: PaymentIncident = {
    incident_id: '5f0c7a7e-3f4e-4c1e-9a57-0d6f0c9b1f2a',
    kind: 'paid_transfer_gone',
    payment_id: paymentId,
    merchant_id: payment.merchant_id,
    network: 'local',
    transaction_id: transfer.transaction_id,
    transaction_event_index: 0,
    block_hash: `0x${'d'.repeat(64)}`,
    opened_at: '2026-01-31T12:40:00.000Z',
    resolved_at: '2026-01-31T13:00:00.000Z',
    resolved_by: 'olga',
    resolved_reason: 'paid again',
  };
  const [, incidents = ''] = paymentView({ ...payment, incidents: [incident] }).split('\n\nincidents\n');
  for (const shown of [incident.incident_id, transfer.transaction_id, '2026-01-31 12:40:00Z', 'olga', 'paid again'])
    expect(incidents).toContain(shown);
  expect(incidents).not.toContain(paymentId);
  expect(incidents).not.toContain(payment.merchant_id);
});

test('a cancelled payment says which operator cancelled it and why', () => {
  const cancellation = { actor: '@olga', reason: 'ordered twice', cancelled_at: '2026-01-31T12:05:00.000Z' };
  const cancelled = {
    ...payment,
    status: 'CANCELLED',
    paid_at: null,
    cancelled_at: cancellation.cancelled_at,
  } as const;
  expect(paymentView({ ...cancelled, cancellation })).toContain('12:05:00Z by @olga: ordered twice');
  expect(paymentView(cancelled)).toMatch(/cancelled +2026-01-31 12:05:00Z\n/);
});
