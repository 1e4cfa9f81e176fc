import { expect, test } from '@jest/globals';
import type { AcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import { acceptQuestion } from '../src/commands/transfer.ts';

const candidate: AcceptanceCandidate = {
  payment_id: `pay_${'b'.repeat(32)}`,
  status: 'EXPIRED',
  expected_amount: '10.50',
  network: 'local',
  transaction_id: 'a'.repeat(64),
  transaction_event_index: 3,
  amount: '9.5',
  unmatched_reason: 'underpaid',
  ...{ merchant_id: `mer_${'c'.repeat(32)}`, recipient: '0x0', phase: 'confirmed', pays: null },
  block_timestamp: '2026-01-31T12:00:00.000Z',
};

test('the question shows both amounts, why the transfer does not pay by itself, and what becomes of the payment', () => {
  const question = acceptQuestion(candidate);
  for (const shown of ['9.5 USDT', 'underpaid', candidate.payment_id, 'EXPIRED', '10.50 USDT', 'PAID'])
    expect(question).toContain(shown);
  expect(acceptQuestion({ ...candidate, unmatched_reason: null })).toContain('no reason against it');
});
