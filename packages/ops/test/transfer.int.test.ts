import { describe, expect, test } from '@jest/globals';
import { runOps, startServices } from './world.ts';

// Each command is a process of its own, which a busy machine may be slow to start.
const payment = `pay_${'b'.repeat(32)}`;
const transaction = 'abcdef01'.repeat(8);
const author = { actor: 'olga', reason: 'no reason given' };
const acceptance = {
  payment_id: payment,
  merchant_id: `mer_${'a'.repeat(32)}`,
  status: 'PAID',
  status_before: 'EXPIRED',
  expected_amount: '10.50',
  network: 'local',
  transaction_id: transaction,
  transaction_event_index: 3,
  amount: '9.5',
  unmatched_reason: 'underpaid',
  block_timestamp: '2026-01-31T12:00:00.000Z',
  confirmations: 17,
  actor: 'olga',
  reason: 'regular customer',
  accepted_at: '2026-01-31T12:30:00.000Z',
};
const route = 'POST /payments/:id/accept-transfer';

describe('transfer accept', () => {
  test.each([
    ['with 0x, as explorers write it', `0x${transaction}`],
    ['in capitals', transaction.toUpperCase()],
    ['as our own answers write it', transaction],
  ])('takes the transaction %s', async (_, text) => {
    await using services = await startServices({ [route]: () => ({ status: 200, body: acceptance }) });
    const words = ['transfer', 'accept', text, '3', '--payment', payment, '--json', '--reason', 'regular customer'];
    const result = await runOps(words, services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(result.stdout)).toEqual(acceptance);
    expect(services.calls).toEqual([
      {
        method: 'POST',
        path: `/payments/${payment}/accept-transfer`,
        query: '',
        body: {
          transaction_id: transaction,
          transaction_event_index: 3,
          ...author,
          reason: 'regular customer',
        },
      },
    ]);
  });

  test('says how many payments it may be for where a script gives the number', async () => {
    await using services = await startServices({ [route]: () => ({ status: 200, body: acceptance }) });
    const words = ['transfer', 'accept', transaction, '3', '--payment', payment, '--yes', '--confirm-candidates', '2'];
    expect(await runOps(words, services.env)).toMatchObject({ code: 0, stderr: '' });
    expect(services.calls[0]?.body).toMatchObject({ transaction_event_index: 3, confirm_candidates: 2 });
  });

  test('shows a person what was accepted for what', async () => {
    await using services = await startServices({ [route]: () => ({ status: 200, body: acceptance }) });
    const words = ['transfer', 'accept', transaction, '3', '--payment', payment, '--yes', '--actor', 'otto'];
    const result = await runOps(words, services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toMatch(/status +PAID, EXPIRED before\n/);
    expect(result.stdout).toMatch(/asked for +10\.50 USDT\naccepted +9\.5 USDT, underpaid\n/);
    expect(services.calls[0]?.body).toMatchObject({ ...author, actor: 'otto' });
  });

  test('does nothing without a terminal or --yes', async () => {
    await using services = await startServices({});
    const result = await runOps(['transfer', 'accept', transaction, '3', '--payment', payment], services.env);
    expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/add --yes/) });
    expect(services.calls).toEqual([]);
  });

  test.each([
    ['a transaction id that is too short', [transaction.slice(1), '3', '--payment', payment]],
    ['an index that is no number', [transaction, 'x', '--payment', payment]],
    ['no payment', [transaction, '3']],
    ['a number that is none', [transaction, '3', '--payment', payment, '--confirm-candidates', 'both']],
    ['a payment that is none', [transaction, '3', '--payment', `mer_${'b'.repeat(32)}`]],
  ])('with %s is wrong use, and nobody is asked', async (_, words) => {
    await using services = await startServices({});
    const result = await runOps(['transfer', 'accept', ...words, '--yes'], services.env);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(services.calls).toEqual([]);
  });

  test.each([
    [409, 'This transfer is gone from the chain', 1, /refused \(409\): This transfer is gone from the chain/],
    [404, 'Payment not found', 1, /refused \(404\): Payment not found/],
    [503, 'Service temporarily unavailable', 3, /gave no answer: it answered 503/],
  ])('that is answered %s (%s) exits %s', async (status, detail, code, stderr) => {
    await using services = await startServices({ [route]: () => ({ status, body: { detail } }) });
    const result = await runOps(['transfer', 'accept', transaction, '3', '--payment', payment, '--yes'], services.env);
    expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(stderr) });
  });
});

describe('transfer where', () => {
  const found = {
    ...{ network: 'local', transaction_id: transaction, transaction_event_index: 3, amount: '9.5' },
    ...{
      merchant_wallet: '0xwallet',
      sender: '0xsender',
      block_number: 7,
      block_timestamp: acceptance.block_timestamp,
    },
    ...{ state: 'confirmed', waiting_for: null, payment_id: payment, reason: 'underpaid' },
    ...{ candidates: [payment], candidates_elsewhere: false },
    merchant_id: acceptance.merchant_id,
  };
  const chain = {
    ...{ outcome: 'mined', network: 'bnb', block_number: 7, block_timestamp: acceptance.block_timestamp },
    ...{ is_scanned: true, is_final: true, other_recipients: [] },
    transfers: [
      { transaction_event_index: 0, from: '0xa', to: '0xb', amount_units: '9500000000000000000', decimals: 18 },
    ],
  };
  const answer = (change: object) => ({
    ...{ transaction_id: transaction, explanation: 'A sentence.', explanation_code: 'unmatched' },
    ...{ transfers: [], chain: null },
    ...change,
  });

  test.each<[string, object, RegExp[]]>([
    ['what the ledger has', { transfers: [found] }, [/confirmed/, /9\.5/, /underpaid/, new RegExp(payment)]],
    [
      'that it may be for several',
      { transfers: [{ ...found, ...{ payment_id: null, reason: 'ambiguous', candidates: [payment, 'pay_2'] } }] },
      [new RegExp(`ambiguous +may be for 2 payments: ${payment}, pay_2 `)],
    ],
    ['what the chain shows', { chain }, [/network +bnb/, /9\.5 USDT +0xa +0xb/]],
    ['that nobody knows it', { chain: { outcome: 'unknown' } }, [/outcome +unknown/]],
  ])('says in a sentence what became of it, and shows %s', async (_, change, shown) => {
    const body = answer(change);
    await using services = await startServices({ 'GET /transfers/:id': () => ({ status: 200, body }) });
    const result = await runOps(['transfer', 'where', `0x${transaction.toUpperCase()}`], services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    for (const text of [/^A sentence\.\n/, ...shown]) expect(result.stdout).toMatch(text);
    expect(services.calls).toMatchObject([{ method: 'GET', path: `/transfers/${transaction}` }]);
    const json = await runOps(['transfer', 'where', transaction, '--json'], services.env);
    expect(JSON.parse(json.stdout)).toEqual(body);
  });
});
