import { expect, test } from '@jest/globals';
import type { AcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import { acceptQuestion } from '@quittance/operator/transfers.ts';
import type { Api } from '../src/api.ts';
import { Failure } from '../src/failure.ts';
import { acceptTransfer } from '../src/payments.ts';
import { terminal } from './terminal.ts';

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
  candidates: [],
};
const others = [`pay_${'b'.repeat(32)}`, `pay_${'d'.repeat(32)}`];

test('the question shows both amounts, why the transfer does not pay by itself, and what becomes of the payment', () => {
  const question = acceptQuestion(candidate);
  for (const shown of ['9.5 USDT', 'underpaid', candidate.payment_id, 'EXPIRED', '10.50 USDT', 'PAID'])
    expect(question).toContain(shown);
  expect(acceptQuestion({ ...candidate, unmatched_reason: null })).toContain('no reason against it');
});

test('of several payments the question names all, and asks if it is this one', () => {
  const question = acceptQuestion({ ...candidate, unmatched_reason: 'after_cancel', candidates: others });
  expect(question).toContain(`may be for 2 payments: ${others.join(', ')}; is it for ${candidate.payment_id}? Accept`);
  expect(question).toContain('(after cancel, ');
});

/** payments, which has learned of these candidates by the first question, the second one, and so on, and takes only their number. */
function payments(...known: string[][]) {
  const sent: object[] = [];
  let asked = 0;
  const call = async (_call: unknown, { body }: { body?: { confirm_candidates?: number } }) => {
    const candidates = known[Math.min(asked, known.length - 1)] ?? [];
    if (body === undefined) return ((asked += 1), { ...candidate, candidates });
    sent.push(body);
    const now = known.at(-1) ?? [];
    if (now.length > 1 && body.confirm_candidates !== now.length) throw new Failure('refused', 'may be for others');
    return { payment_id: candidate.payment_id };
  };
  return { api: { call } as unknown as Api, sent };
}
const accept = (api: Api, typed: string, more: object = {}) => {
  const { transaction_id, transaction_event_index, payment_id: paymentId } = candidate;
  const transfer = { transaction_id, transaction_event_index, ...more };
  const person = terminal(typed);
  const author = { actor: 'olga', reason: 'asked' };
  return { person, done: acceptTransfer(api, { paymentId, transfer, author }, {}, person) };
};

test('a person at the terminal says yes to as many payments as were shown', async () => {
  const { api, sent } = payments(others);
  await accept(api, 'yes\n').done;
  expect(sent).toMatchObject([{ confirm_candidates: 2 }]);
  const alone = payments([candidate.payment_id]);
  await accept(alone.api, 'yes\n').done;
  expect(alone.sent).toEqual([{ transaction_id: candidate.transaction_id, transaction_event_index: 3 }]);
});

test('a person is asked again when the ledger has learned of others meanwhile, and only then', async () => {
  const learned = payments([], others);
  const { person, done } = accept(learned.api, 'yes\n');
  setImmediate(() => person.stdin.write('yes\n'));
  await done;
  expect(learned.sent).toEqual([
    expect.not.objectContaining({ confirm_candidates: expect.anything() }),
    expect.objectContaining({ confirm_candidates: 2 }),
  ]);
  expect(String(person.stderr.read())).toContain('may be for 2 payments');
  const same = payments(others);
  await expect(accept(same.api, 'yes\n', { confirm_candidates: 3 }).done).rejects.toMatchObject({ kind: 'refused' });
  expect(same.sent).toHaveLength(1);
});
