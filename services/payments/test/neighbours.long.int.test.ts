import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AccessChanged, TransferObserved } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { createUntil, dustOn, newMerchants, probeUntil, untilRecorded } from './dust.ts';
import { create, newMerchant, newPayment, policyOf, type TestPayment, transferFor } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';

// The lock of a transaction that does not end simulates endless noise: requests that wait for it must not delay others.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

/** Runs `meanwhile` while another transaction has locked what `statement` selects. */
async function whileLocked(statement: string, values: unknown[], meanwhile: () => Promise<void>): Promise<void> {
  const stranger = await payments.db.connect();
  try {
    await stranger.query('begin; set local idle_in_transaction_session_timeout = 0');
    await stranger.query(statement, values);
    await meanwhile();
    await stranger.query('rollback');
  } finally {
    stranger.release();
  }
}

const isPaid = (one: TestPayment) => eventually(async () => expect((await one.details()).status).toBe('PAID'));

test('transfers to a locked wallet delay no other transfer, no creation and no readiness', async () => {
  const [dusty, honest, ...creating] = await newMerchants(payments, 4);
  const target = await newPayment(payments, {}, dusty);
  const other = await newPayment(payments, {}, honest);
  const { network, merchant_wallet: wallet } = target.payment;
  const dust = dustOn(target, 300);
  await whileLocked(
    `select pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0))`,
    [network, wallet],
    async () => {
      await payments.publishAll(TransferObserved, dust);
      let done = false;
      const [creations, probes] = await Promise.all([
        createUntil(payments, creating, () => done),
        probeUntil(payments, () => done),
        other
          .observe({ phase: 'confirmed', confirmations: 2 })
          .then(() => isPaid(other))
          .finally(() => (done = true)),
      ]);
      expect({ creations: creations.refused, probes: probes.refused }).toEqual({ creations: 0, probes: 0 });
    },
  );
  await untilRecorded(payments, wallet, dust.length);
  expect(await target.details()).toMatchObject({ status: 'PENDING' });
});

test('a transfer whose payment is locked delays no other', async () => {
  const merchantId = await newMerchant(payments);
  const locked = await newPayment(payments, {}, merchantId);
  const others = await Promise.all(Array.from({ length: 5 }, () => newPayment(payments, {}, merchantId)));
  const id = locked.payment.payment_id;
  await whileLocked('select from payment where payment_id = $1 for update', [id], async () => {
    await payments.publishAll(
      TransferObserved,
      [locked, ...others].map(({ payment }) =>
        transferFor(merchantId, payment, { phase: 'confirmed', confirmations: 2 }),
      ),
    );
    await Promise.all(others.map(isPaid));
    expect((await locked.details()).status).toBe('PENDING');
  });
  await isPaid(locked);
});

test('requests and messages of a merchant whose gate is locked delay no other merchant and no readiness', async () => {
  const [locked, ...creating] = await newMerchants(payments, 3);
  await whileLocked('select from gate where merchant_id = $1 for update', [locked], async () => {
    const policies = Array.from({ length: 80 }, (_, position) => ({
      ...policyOf(locked!, { policy_version: position + 2 }),
      changed_at: new Date().toISOString(),
    }));
    await payments.publishAll(AccessChanged, policies);
    let waiting = 24;
    const kept = Array.from({ length: waiting }, () =>
      create(payments, locked!, {}, { once: true }).finally(() => (waiting -= 1)),
    );
    const [creations, probes, answers] = await Promise.all([
      createUntil(payments, creating, () => waiting === 0),
      probeUntil(payments, () => waiting === 0),
      Promise.all(kept),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect(creations.ms.length).toBeGreaterThan(creating.length);
    expect({ creations: creations.refused, probes: probes.refused }).toEqual({ creations: 0, probes: 0 });
  });
  expect((await create(payments, locked!)).status).toBe(201);
});
