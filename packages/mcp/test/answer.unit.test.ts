import { expect, test } from '@jest/globals';
import { QuittanceError } from '@quittance/sdk';
import { answer, marked } from '../src/answer.ts';
import { explain } from '../src/read-tools.ts';

test('texts of others are marked at any depth, and nothing else is', () => {
  const payment = { payment_id: 'pay_1', description: 'Tea', order_id: null, metadata: { note: 'x' }, amount: '1' };
  expect(marked({ payments: [payment], next: null })).toEqual({
    payments: [
      {
        ...{ payment_id: 'pay_1', order_id: null, amount: '1' },
        description: { untrusted_text: 'Tea' },
        metadata: { untrusted_text: { note: 'x' } },
      },
    ],
    next: null,
  });
});

test('an error of the API says what was wrong, and when to ask again', async () => {
  const failing = (facts: ConstructorParameters<typeof QuittanceError>[0]) =>
    answer(() => Promise.reject(new QuittanceError(facts)));
  const invalid = {
    code: 'invalid_request',
    message: '422',
    invalidFields: [{ field: 'amount', reason: 'is missing' }],
  } as const;
  expect(await failing(invalid)).toEqual({
    content: [{ type: 'text', text: '422 (invalid_request). amount is missing' }],
    isError: true,
  });
  const limited = await failing({ code: 'rate_limited', message: '429', retryAfterMs: 1_500 });
  expect(limited.content).toEqual([{ type: 'text', text: '429 (rate_limited). Ask again in 2 seconds' }]);
});

test('another error is not hidden', async () => {
  await expect(answer(() => Promise.reject(new TypeError('a mistake')))).rejects.toThrow('a mistake');
});

test.each([
  [{ status: 'PENDING' }, 'It waits for 5 USDT on tron until 2026-01-01T00:00:00Z.'],
  [{ status: 'CHECKING', transaction: { waiting_for: 'finality' } }, 'It waits for finality.'],
  [{ status: 'PAID', paid_at: '2026-01-02T00:00:00Z' }, 'It was paid at 2026-01-02T00:00:00Z.'],
  [{ status: 'EXPIRED' }, 'It ended unpaid at'],
  [{ status: 'CANCELLED', cancelled_at: '2026-01-03T00:00:00Z' }, 'It was cancelled at 2026-01-03T00:00:00Z.'],
  [{ status: 'EXPIRED', dedicated: true, received_amount: '3' }, '3 USDT has arrived at its address.'],
  [{ status: 'PENDING', unmatched_transfers: [{}, {}] }, 'Unmatched transfers that may be for it: 2.'],
])('%j is explained', (facts, text) => {
  const payment = {
    amount: '5',
    network: 'tron',
    expires_at: '2026-01-01T00:00:00Z',
    transaction: null,
    dedicated: false,
  };
  const details = { ...payment, transfers: [], unmatched_transfers: [], ...facts };
  expect(explain(details as unknown as Parameters<typeof explain>[0])).toContain(text);
});
