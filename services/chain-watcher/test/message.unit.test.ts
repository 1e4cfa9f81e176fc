import { expect, test } from '@jest/globals';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { messageIdOf, toTransferObserved } from '../src/transfers/publish.ts';
import type { TransferRow } from '../src/transfers/transfer.sql.ts';

const row: TransferRow = {
  merchant_id: `mer_${'1'.repeat(32)}`,
  transaction_id: 'ab'.repeat(32),
  transaction_event_index: 2,
  block_number: 100n,
  block_hash: 'cd'.repeat(32),
  block_timestamp: new Date('2026-01-02T03:04:05Z'),
  sender: '11'.repeat(20),
  recipient: 'a614f803b6fd780986a42c78ec9c7f77e6ded13c',
  amount_units: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
  phase: 'seen',
  version: 1,
  first_seen_at: new Date('2026-01-02T03:04:53.210Z'),
  live: true,
};
const ethereum = { id: 'ethereum', family: 'evm', decimals: 6, confirmations: 12 } as const;
const tron = { id: 'tron', family: 'tron', decimals: 6, confirmations: 19 } as const;

test('a published transfer fits the message, up to the largest amount', () => {
  const message = toTransferObserved(ethereum, row, 105);
  expect(TransferObserved.parse(message)).toEqual(message);
  expect(message).toMatchObject({ first_seen_at: '2026-01-02T03:04:53.210Z', live: true });
  expect(message).toMatchObject({ amount_units: row.amount_units, confirmations: 6, confirmations_required: 12 });
});

test('addresses are published in the canonical form of their network', () => {
  expect(toTransferObserved(ethereum, row, 105).to).toBe('0xa614f803B6FD780986A42c78Ec9c7f77e6DeD13C');
  expect(toTransferObserved(tron, row, 105).to).toBe('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t');
});

test('a retracted transfer has no confirmations', () => {
  expect(toTransferObserved(ethereum, { ...row, phase: 'retracted', version: 2 }, 105).confirmations).toBe(0);
});

test('a confirmed transfer has as many confirmations as it needs, even if the current tip is lower', () => {
  const countOf = (tip: number) =>
    toTransferObserved(ethereum, { ...row, phase: 'confirmed', version: 2 }, tip).confirmations;
  expect([countOf(102), countOf(111), countOf(115)]).toEqual([12, 12, 16]);
});

test('the same observation has the same id, and each other one has a different id', () => {
  const id = messageIdOf('ethereum', row);
  expect(messageIdOf('ethereum', { ...row })).toBe(id);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const others = [
    messageIdOf('base', row),
    messageIdOf('ethereum', { ...row, transaction_event_index: 3 }),
    messageIdOf('ethereum', { ...row, block_hash: 'ef'.repeat(32) }),
    messageIdOf('ethereum', { ...row, phase: 'confirmed' }),
    messageIdOf('ethereum', { ...row, version: 3 }),
  ];
  expect(new Set([id, ...others]).size).toBe(6);
});
