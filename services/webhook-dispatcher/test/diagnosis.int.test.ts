import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { status } from './receiver.ts';
import { startWorld, type Merchant, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

type Described = { event: Record<string, unknown>; lane: Record<string, unknown>; attempts: Record<string, unknown>[] };

async function ask(path: string): Promise<{ status: number; body: Described }> {
  const reply = await world.call('GET', path);
  return { status: reply.status, body: reply.body as unknown as Described };
}

/** An event whose receiver gave these answers, after its attempts have ended. */
async function endedEvent(merchant: Merchant) {
  const payment = await world.pay(merchant);
  const { event_id: eventId } = await eventually(async () => {
    const delivery = await world.delivery(payment);
    expect(delivery.status).not.toBe('pending');
    return delivery;
  });
  return { eventId, paymentId: payment.payment_id };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('an event', () => {
  test('is found by its id or its payment, with all its attempts, newest first', async () => {
    const merchant = await world.merchant();
    world.receiver.answer(merchant.host, status(404), status(503), status(200));
    const { eventId, paymentId } = await endedEvent(merchant);
    const found = await ask(`/events/${eventId}`);
    const attempt = {
      ...{ cycle: 1, started_at: expect.stringMatching(TIME), duration_ms: expect.any(Number) },
      ...{ key_id: merchant.keyId, remote_ip: '127.0.0.1' },
    };
    expect(found).toEqual({
      status: 200,
      body: {
        event: {
          ...{ event_id: eventId, payment_id: paymentId, merchant_id: merchant.merchantId, status: 'delivered' },
          ...{
            event_type: null,
            attempts: 3,
            cycle: 1,
            cycle_started_at: expect.stringMatching(TIME),
            interruptions: 0,
          },
          ...{
            in_flight: false,
            created_at: expect.stringMatching(TIME),
            last_attempt_at: expect.stringMatching(TIME),
          },
          ...{ next_attempt_at: null, delivered_at: expect.stringMatching(TIME), error_category: null },
        },
        lane: expect.objectContaining({ merchant_id: merchant.merchantId, host: merchant.host, held: false, due: 0 }),
        attempts: [
          { ...attempt, n: 3, http_status: 200, error_category: null },
          { ...attempt, n: 2, http_status: 503, error_category: 'http_5xx' },
          { ...attempt, n: 1, http_status: 404, error_category: 'http_4xx' },
        ],
        retries: [],
      },
    });
    expect(await ask(`/payments/${paymentId}/event`)).toEqual(found);
    // The merchant's secrets, and the body.
    const text = JSON.stringify(found.body);
    for (const secret of ['https:', 'tenant=7', merchant.signingKey, 'whsec_', 'transaction', 'coffee'])
      expect(text).not.toContain(secret);
  });

  test('in flight is shown with its lease', async () => {
    const merchant = await world.merchant();
    const held: (() => void)[] = [];
    world.receiver.answer(merchant.host, (response) => void held.push(() => response.writeHead(200).end()));
    const payment = await world.pay(merchant);
    const { body } = await eventually(async () => {
      expect(held).toHaveLength(1);
      return ask(`/payments/${payment.payment_id}/event`);
    });
    expect(body).toMatchObject({ event: { status: 'pending', in_flight: true, attempts: 0 }, attempts: [] });
    held[0]!();
  });

  test('with more than a hundred attempts is read page by page', async () => {
    const merchant = await world.merchant();
    const { eventId } = await endedEvent(merchant);
    // As if the receiver had been tried for weeks.
    await world.pool.query(
      `insert into attempt (event_id, lease_id, started_at, cycle, n, key_id, duration_ms, http_status, error_category)
       select $1, gen_random_uuid(), now() - n * interval '3 hours', 1, n, 'whk_1', 5, 500, 'http_5xx' from generate_series(1, 130) n`,
      [eventId],
    );
    const first = (await ask(`/events/${eventId}`)).body.attempts;
    expect(first).toHaveLength(100);
    const rest = (await ask(`/events/${eventId}?before=${String(first.at(-1)!['started_at'])}`)).body.attempts;
    expect(rest).toHaveLength(31);
    const numbers = [...first, ...rest].slice(1).map(({ n }) => n);
    expect(numbers).toEqual(Array.from({ length: 130 }, (_item, at) => at + 1));
  });

  test('that does not exist is 404, and a page before an invalid time 422', async () => {
    const [event, payment] = [newId('evt'), newId('pay')];
    expect(await ask(`/events/${event}`)).toMatchObject({ status: 404, body: { detail: 'Webhook event not found' } });
    expect(await ask(`/payments/${payment}/event`)).toMatchObject({ status: 404 });
    const { eventId } = await endedEvent(await world.merchant());
    expect(await ask(`/events/${eventId}?before=yesterday`)).toMatchObject({ status: 422 });
  });
});

test("waiting lanes are listed: all, those of blocked accounts, or one merchant's", async () => {
  const merchant = await world.merchant();
  await world.setStatus(merchant.merchantId, 'blocked', 1);
  await eventually(async () => {
    const { rows } = await world.pool.query(`select held from lane where merchant_id = $1`, [merchant.merchantId]);
    expect(rows).toEqual([{ held: true }]);
  });
  const payment = await world.pay(merchant);
  const lanes = async (query: string) =>
    (await world.call('GET', `/lanes${query}`)).body as unknown as { lanes: { merchant_id: string }[]; total: number };
  await eventually(async () => {
    expect(await lanes('?held=true')).toMatchObject({
      total: 1,
      lanes: [{ merchant_id: merchant.merchantId, held: true, due: 1, oldest_due_at: expect.stringMatching(TIME) }],
    });
  });
  const others = await lanes('');
  expect(others.lanes.map(({ merchant_id }) => merchant_id)).not.toContain(merchant.merchantId);
  expect(await lanes(`?merchant_id=${merchant.merchantId}`)).toMatchObject({
    total: 2,
    lanes: [
      { held: true, events: 'paid', due: 1 },
      { held: true, events: 'notices', due: 0 },
    ],
  });
  expect(await ask(`/payments/${payment.payment_id}/event`)).toMatchObject({ body: { lane: { held: true, due: 1 } } });
  expect(await world.call('GET', '/lanes?held=perhaps')).toMatchObject({ status: 422 });
});
