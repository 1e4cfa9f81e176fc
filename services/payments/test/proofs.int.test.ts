import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { PROVEN_TRANSFERS_MAX, type PaymentProof } from '@quittance/contracts/api/proof.ts';
import type { TransferProof } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import { newId } from '@quittance/contracts/ids.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { accept, confirmed, untilDetails, untilRecorded } from './acceptance-fixtures.ts';
import { newPayment, type Order, type TestPayment } from './fixtures.ts';
import { networks, type PaymentsUnderTest, startPayments } from './service.ts';

const [local] = networks as [(typeof networks)[0]];

let payments: PaymentsUnderTest;
beforeAll(async () => {
  const proven = { ...local, receipts: 'proven', default_evm: true };
  const unproven = { ...local, id: 'plain', name: 'Plain Chain', receipts: 'unproven' };
  payments = await startPayments({ networks: [proven, unproven] });
});
beforeEach(() => {
  payments.stubs.proofs.length = 0;
});
afterAll(() => payments.close());

const read = ({ merchantId, payment }: Pick<TestPayment, 'merchantId' | 'payment'>) =>
  payments.call<PaymentProof & { code: string }>(
    'GET',
    `/merchants/${merchantId}/payments/${payment.payment_id}/proof`,
  );

const block = { block_number: 500, block_hash: `0x${'5b'.repeat(32)}` };

/** A confirmed transfer to the payment's wallet, which chain-watcher has kept a proof of. @param amount in USDT. */
async function arrive(one: TestPayment, amount: number, change: Partial<TransferObserved> = {}) {
  const transfer = await one.observe({ ...confirmed, ...block, amount_units: String(amount * 1e6), ...change });
  await untilRecorded(payments, transfer);
  payments.stubs.proofs.unshift(keptOf(transfer));
  return transfer;
}

/** The bytes are opaque to payments. */
const keptOf = (transfer: TransferObserved): TransferProof => ({
  transaction_id: transfer.transaction_id,
  transaction_event_index: transfer.transaction_event_index,
  block_number: transfer.block_number,
  block_hash: transfer.block_hash,
  block_timestamp: transfer.block_timestamp,
  agreed_by: 2,
  transaction_index: 7,
  header: '0xf901',
  nodes: ['0xf902', `0x${transfer.transaction_id}`],
  receipt: `0x${randomBytes(4).toString('hex')}`,
});

const receiptOf = ({ transaction_id, transaction_event_index }: TransferObserved) => {
  const kept = payments.stubs.proofs.find(
    (each) => each.transaction_id === transaction_id && each.transaction_event_index === transaction_event_index,
  )!;
  return {
    transaction_id,
    index: kept.transaction_index,
    rlp: kept.receipt,
    nodes: kept.nodes,
    log_index: transaction_event_index,
  };
};

const paid = async (order: Partial<Order> = {}) => {
  const one = await newPayment(payments, order);
  const transfer = await arrive(one, Number(one.payment.amount));
  const shown = await untilDetails(one, { status: 'PAID' });
  return { ...one, transfer, shown };
};
const alone = (options: Order['options'] = {}) =>
  newPayment(payments, { amount: '10', options: { dedicated_wallet: true, ...options } });

test('a PAID payment is proved by its transfer, with everything that a verifier needs', async () => {
  const one = await paid();
  const { transfer, shown } = one;
  const { status, json } = await read(one);
  expect(status).toBe(200);
  expect(json).toEqual({
    version: 1,
    payment: {
      payment_id: shown.payment_id,
      amount: '10.50',
      merchant_wallet: shown.merchant_wallet,
      network: 'local',
      description: 'Two tickets',
      created_at: shown.created_at,
      paid_at: shown.paid_at,
    },
    chain_id: 31337,
    token: '0xdac17f958d2ee523a2206206994597c13d831ec7',
    block: { number: 500, hash: block.block_hash, timestamp: transfer.block_timestamp, header: '0xf901' },
    receipts: [receiptOf(transfer)],
    finality: { rule: 'confirmations', confirmations: 2, agreed_by: 2 },
  });
});

test('transfers in one block that pay together have an entry each, in the order of the chain', async () => {
  const one = await alone();
  const second = await arrive(one, 4, { transaction_event_index: 9 });
  const first = await arrive(one, 2, { transaction_id: second.transaction_id, transaction_event_index: 1 });
  const third = await arrive(one, 5, { transaction_event_index: 12 });
  await untilDetails(one, { status: 'PAID' });
  // A transfer that comes later does not pay it.
  await arrive(one, 10, { transaction_event_index: 20 });
  const { json } = await read(one);
  expect(json.receipts).toEqual([first, second, third].map(receiptOf));
  expect(json.payment).not.toHaveProperty('accepted_amount');
});

test('a payment that counts as paid with less says with how much: by its percentage, and by an acceptance', async () => {
  const one = await alone({ accept_from_percent: 90 });
  await arrive(one, 4);
  await arrive(one, 5.25);
  await untilDetails(one, { status: 'PAID', received_amount: '9.25' });
  expect((await read(one)).json.payment).toMatchObject({ amount: '10', accepted_amount: '9.25' });

  const other = await newPayment(payments, { amount: '30' });
  const less = await arrive(other, 29.5);
  await untilDetails(other, { unmatched_transfers: [expect.objectContaining({ reason: 'underpaid' })] });
  expect(await read(other)).toMatchObject({ status: 409, json: { code: 'proof_unavailable' } });
  expect((await accept(payments, other, less)).status).toBe(200);
  const { json } = await read(other);
  expect(json.payment).toMatchObject({ amount: '30', accepted_amount: '29.5' });
  expect(json.receipts).toEqual([receiptOf(less)]);
});

test('endpoints that an earlier release did not count are one, and the fewest of all transfers count', async () => {
  const one = await alone();
  await arrive(one, 4);
  await arrive(one, 6);
  await untilDetails(one, { status: 'PAID' });
  payments.stubs.proofs[0]!.agreed_by = 3;
  expect((await read(one)).json.finality.agreed_by).toBe(2);
  payments.stubs.proofs[0]!.agreed_by = null;
  expect((await read(one)).json.finality.agreed_by).toBe(1);
});

test("another merchant's payment and an unknown one are the same 404", async () => {
  const one = await paid();
  const foreign = await read({ ...one, merchantId: newId('mer') });
  const unknown = await read({ ...one, payment: { ...one.payment, payment_id: newId('pay') } });
  expect([foreign.status, foreign.text]).toEqual([404, '{"detail":"Payment not found","code":"not_found"}']);
  expect([unknown.status, unknown.text]).toEqual([404, foreign.text]);
});

const refusals: Record<string, [make: () => Promise<TestPayment>, detail: string]> = {
  'it is not PAID': [() => newPayment(payments), 'Only a PAID payment has a proof, and this one is PENDING'],
  'blocks of its network are not proven': [() => paid({ network: 'plain' }), 'Blocks of Plain Chain cannot be proven'],
  'its network is switched off': [
    async () => {
      const one = await paid();
      await payments.db.query(`update payment set network = 'gone' where payment_id = $1`, [one.payment.payment_id]);
      return one;
    },
    'The network gone is switched off',
  ],
  'nothing was kept': [
    async () => {
      const one = await paid();
      payments.stubs.proofs.length = 0;
      return one;
    },
    'Nothing is kept that proves the transfers',
  ],
  'only a part of it was kept': [
    async () => {
      const one = await alone();
      await arrive(one, 4);
      await arrive(one, 6);
      await untilDetails(one, { status: 'PAID' });
      payments.stubs.proofs.pop();
      return one;
    },
    'Nothing is kept that proves the transfers',
  ],
  'its transfers are in several blocks': [
    async () => {
      const one = await alone();
      await arrive(one, 4);
      await arrive(one, 6, { block_number: 501, block_hash: `0x${'5c'.repeat(32)}` });
      await untilDetails(one, { status: 'PAID' });
      return one;
    },
    'Transfers in several blocks pay this payment',
  ],
  'too many transfers pay it': [
    async () => {
      const one = await alone();
      const share = 10 / (PROVEN_TRANSFERS_MAX + 1);
      for (let part = 0; part <= PROVEN_TRANSFERS_MAX; part += 1) await arrive(one, share);
      await untilDetails(one, { status: 'PAID' });
      return one;
    },
    'More than 7 transfers pay this payment',
  ],
};

test.each(Object.entries(refusals))('409 says why there is no proof: %s', async (_, [make, detail]) => {
  const { status, json } = await read(await make());
  expect([status, json.code, json.detail]).toEqual([409, 'proof_unavailable', expect.stringContaining(detail)]);
});

test('without an answer of chain-watcher it is 503, and nobody is told that there is no proof', async () => {
  const one = await paid();
  payments.stubs.down.add('chain-watcher');
  const path = `/merchants/${one.merchantId}/payments/${one.payment.payment_id}/proof`;
  expect((await payments.call('GET', path, undefined, { once: true })).status).toBe(503);
  payments.stubs.down.delete('chain-watcher');
  expect((await read(one)).status).toBe(200);
});
