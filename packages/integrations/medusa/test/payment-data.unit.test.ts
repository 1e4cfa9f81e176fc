import { expect, test } from '@jest/globals';
import type { Payment } from '@quittance/sdk';
import { paymentData } from '../src/payment-data.ts';

const payment = (more: object) => ({ amount: '14.51', status: 'PENDING', transaction: null, ...more }) as Payment;

test.each<[string, object, string | null]>([
  ['nothing has arrived', { received_amount: '0' }, null],
  ['a part has arrived', { received_amount: '14.509999' }, 'too little'],
  ['all has arrived', { received_amount: '14.510000' }, null],
  ['more has arrived', { received_amount: '14.510001', status: 'PAID' }, 'too much'],
  ['a shared wallet counts nothing', { received_amount: null }, null],
  [
    'a person accepted less on a shared wallet',
    { received_amount: null, status: 'PAID', transaction: { amount: '14' } },
    'too little',
  ],
])('says how what arrived compares with the amount: %s', (_case, more, received) => {
  expect(paymentData('payses_1', payment(more)).received).toBe(received);
});
