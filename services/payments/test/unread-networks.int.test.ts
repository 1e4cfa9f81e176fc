import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { createOutbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { confirmed, messagesAbout, untilDetails } from './acceptance-fixtures.ts';
import { startExpireUnreadLoop } from '../src/expiry/expire-unread.ts';
import { createPaymentMessages } from '../src/payment/outgoing-messages.ts';
import { create, newPayment, wholeSecond } from './fixtures.ts';
import { network, type PaymentsUnderTest, startPayments } from './service.ts';

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.close());

/** What a service with these networks in its networks file does, once. The running service sends the messages it writes to the outbox. */
async function lookWith(networks: readonly string[]): Promise<void> {
  const common = { logger: testLogger, metrics: testMetrics };
  const broker = connectBroker({ ...common, url: 'amqp://nobody:nobody@127.0.0.1:1/', name: 'payments' });
  const outbox = createOutbox({ ...common, pool: payments.db, broker, signer: null });
  let turns = 0;
  const loop = startExpireUnreadLoop({
    ...common,
    db: {
      query: (text, values) => {
        turns += 1;
        return payments.db.query(text as string, values);
      },
    },
    transact: (run) => transaction(payments.db, run),
    messages: createPaymentMessages({ outbox, metrics: testMetrics }),
    networks: networks.map((id) => ({ id }) as Network),
  });
  await eventually(() => expect(turns).toBeGreaterThan(0));
  await loop.close();
  await outbox.close();
  await broker.close();
}

const DAY_MINUTES = 24 * 60;

test('a payment on a network that is no longer enabled expires a day after its time, and its amount is free again', async () => {
  const [one, read] = [await newPayment(payments), await newPayment(payments)];
  await one.age(30 + DAY_MINUTES - 1);
  await lookWith([]);
  expect(await one.details()).toMatchObject({ status: 'PENDING' });
  const { merchant_wallet: wallet, amount } = one.payment;
  expect((await create(payments, one.merchantId, { wallet, amount })).status).toBe(409);

  await one.age(2);
  await lookWith([network]);
  expect(await one.details()).toMatchObject({ status: 'PENDING' });
  await lookWith(['another']);
  expect(await one.details()).toMatchObject({ status: 'EXPIRED' });
  await eventually(() => expect(messagesAbout(payments, one).closed).toMatchObject([{ status: 'EXPIRED' }]));
  expect(await read.details()).toMatchObject({ status: 'PENDING' });
  expect((await create(payments, one.merchantId, { wallet, amount })).status).toBe(201);

  // The network is back, and shows money that came in time.
  const paying = await one.observe({
    ...confirmed,
    block_timestamp: wholeSecond(new Date(), -60 * (DAY_MINUTES + 20)),
  });
  await untilDetails(one, { status: 'PAID', transaction: { transaction_id: paying.transaction_id } });
  await eventually(() => expect(messagesAbout(payments, one).paid).toHaveLength(1));
  expect(messagesAbout(payments, one).closed).toHaveLength(1);
});

test('one that is CHECKING there waits for the network: its money is not confirmed yet', async () => {
  const one = await newPayment(payments);
  await one.observe();
  await untilDetails(one, { status: 'CHECKING' });
  await one.age(30 + DAY_MINUTES + 5);
  await lookWith([]);
  expect(await one.details()).toMatchObject({ status: 'CHECKING' });
});
