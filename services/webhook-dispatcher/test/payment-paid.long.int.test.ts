import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PaymentPaid } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { startWorld, type Merchant, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** Publishes paid payments while no dispatcher runs, so that the next one gets them together. */
async function payMeanwhile(merchants: readonly Merchant[], count: number): Promise<PaymentPaid[]> {
  await world.dispatcher().stop();
  return Promise.all(Array.from({ length: count }, (_, n) => world.pay(merchants[n % merchants.length]!)));
}

async function eventsOf(payments: readonly PaymentPaid[]): Promise<{ event_id: string; payment_id: string }[]> {
  const { rows } = await world.pool.query<{ event_id: string; payment_id: string }>(
    'select event_id, payment_id from event where payment_id = any($1) order by event_id',
    [payments.map(({ payment_id }) => payment_id)],
  );
  return rows;
}

const twoMerchants = async (): Promise<Merchant[]> => [await world.merchant(), await world.merchant()];
const idsOf = (payments: readonly PaymentPaid[]) => payments.map(({ payment_id }) => payment_id).toSorted();

/** @param mayRepeat whether a dispatcher may have died between an attempt and storing it. */
async function delivered(
  payments: readonly PaymentPaid[],
  merchants: readonly Merchant[],
  mayRepeat = false,
): Promise<void> {
  await eventually(
    async () => {
      const { rows } = await world.pool.query(
        `select count(*)::int as delivered from delivery join event using (event_id)
          where status = 'delivered' and payment_id = any($1)`,
        [idsOf(payments)],
      );
      expect(rows).toEqual([{ delivered: payments.length }]);
    },
    // Deliveries of a killed dispatcher wait until their leases expire.
    { timeoutMs: 100_000 },
  );
  const sent = merchants.flatMap(({ host }) =>
    world.receiver.received(host).map(({ body }) => (JSON.parse(body.toString()) as PaymentPaid).payment_id),
  );
  expect((mayRepeat ? [...new Set(sent)] : sent).toSorted()).toEqual(idsOf(payments));
}

test('waiting paid payments become events in one batch, one each', async () => {
  const merchants = await twoMerchants();
  const payments = await payMeanwhile(merchants, 60);
  await Promise.all(payments.slice(0, 20).map((again) => world.pay({ merchantId: again.merchant_id }, again)));
  await world.restart();
  await delivered(payments, merchants);
  expect(await eventsOf(payments)).toHaveLength(60);
  await eventually(async () => {
    const metrics = await world.metrics();
    expect(metrics).toMatch(/messaging_batch_messages_sum\{[^}]*handler="payment-paid"[^}]*\} 80\n/);
    expect(
      Number(/messaging_batch_messages_count\{[^}]*handler="payment-paid"[^}]*\} (\d+)\n/.exec(metrics)?.[1]),
    ).toBeLessThan(40);
  });
});

test('a crash between the commit and the acknowledgements of a batch repeats no event', async () => {
  const merchants = await twoMerchants();
  const payments = await payMeanwhile(merchants, 60);
  // It may already have ended before it is ready.
  const dying = await world.restart({ FAULT_POINT: 'message-committed' }).catch(() => null);
  await dying?.ended;
  const committed = await eventsOf(payments);
  expect(committed.length).toBeGreaterThan(0);

  await world.restart();
  await delivered(payments, merchants, true);
  expect(await eventsOf(payments)).toEqual(expect.arrayContaining(committed));
  await eventually(async () => {
    const duplicates = new RegExp(`messaging_consumed_total\\{[^}]*result="duplicate"[^}]*\\} ${committed.length}\\n`);
    expect(await world.metrics()).toMatch(duplicates);
  });
});

test('a payment whose event cannot be stored delays no other of its batch, and gets its event once it can be stored', async () => {
  const merchants = await twoMerchants();
  const payments = await payMeanwhile(merchants, 40);
  const poison = payments[20]!;
  await world.pool.query(`
    create function refuse_event() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refused before insert on event for each row when (new.payment_id = '${poison.payment_id}')
      execute function refuse_event()`);
  try {
    const dispatcher = await world.restart();
    const others = payments.filter((payment) => payment !== poison);
    await eventually(async () =>
      expect((await eventsOf(payments)).map((row) => row.payment_id).toSorted()).toEqual(idsOf(others)),
    );
    await eventually(() => expect(dispatcher.log()).toContain('its messages are processed one by one'));
  } finally {
    await world.pool.query('drop trigger refused on event; drop function refuse_event()');
  }
  await delivered(payments, merchants);
});
