import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { eventually } from '@quittance/testkit/eventually.ts';
import { status } from './receiver.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

test('the event of a dispatcher that is killed during an attempt arrives after its lease has expired, and no attempt is counted', async () => {
  const merchant = await world.merchant();
  world.receiver.answer(merchant.host, () => undefined, status(200));
  const payment = await world.pay(merchant);
  await eventually(() => expect(world.receiver.received(merchant.host)).toHaveLength(1));
  await world.dispatcher().kill();

  await world.restart();
  const leased = await world.delivery(payment);
  expect(leased).toMatchObject({ status: 'pending', attempts: 0 });
  expect(world.receiver.received(merchant.host)).toHaveLength(1);
  await world.makeDue(leased.event_id);

  await eventually(async () =>
    expect(await world.delivery(payment)).toMatchObject({ status: 'delivered', attempts: 1 }),
  );
  const bodies = world.receiver.received(merchant.host).map(({ body }) => body.toString());
  expect(bodies).toHaveLength(2);
  expect(new Set(bodies).size).toBe(1);
  const { rows } = await world.pool.query(`select interruptions, cycle from delivery where event_id = $1`, [
    leased.event_id,
  ]);
  expect(rows).toEqual([{ interruptions: 1, cycle: 1 }]);
});

test.each([
  ['delivery-claimed', 'before the POST', 1],
  ['webhook-answered', 'between the answer and its record', 2],
])('a power cut at %s, %s, loses nothing', async (faultPoint, _where, posts) => {
  await world.dispatcher().stop();
  const dying = await world.restart({ FAULT_POINT: faultPoint });
  const merchant = await world.merchant();
  const payment = await world.pay(merchant);
  await dying.ended;

  await world.restart();
  await world.makeDue((await world.delivery(payment)).event_id);
  await eventually(async () =>
    expect(await world.delivery(payment)).toMatchObject({ status: 'delivered', attempts: 1 }),
  );
  const bodies = world.receiver.received(merchant.host).map(({ body }) => body.toString());
  expect(bodies).toHaveLength(posts);
  expect(new Set(bodies).size).toBe(1);
});

test('SIGTERM waits for the attempt in flight and stores its outcome', async () => {
  const merchant = await world.merchant();
  let open: ServerResponse | undefined;
  world.receiver.answer(merchant.host, (response) => (open = response));
  const payment = await world.pay(merchant);
  await eventually(() => expect(open).toBeDefined());

  const stopped = world.dispatcher().stop();
  await eventually(() => expect(world.dispatcher().log()).toContain('"msg":"stopping"'));
  open!.writeHead(204).end();
  expect(await stopped).toBe(0);

  const { rows } = await world.pool.query(
    `select d.status, d.attempts, d.lease_id from delivery d join event e using (event_id) where e.payment_id = $1`,
    [payment.payment_id],
  );
  expect(rows).toEqual([{ status: 'delivered', attempts: 1, lease_id: null }]);
  expect(world.receiver.received(merchant.host)).toHaveLength(1);
  await world.restart();
});

test('two dispatchers deliver each event once', async () => {
  const other = await world.start();
  const merchants = await Promise.all([1, 2, 3, 4].map(() => world.merchant()));
  const payments = await Promise.all(Array.from({ length: 80 }, (_, n) => world.pay(merchants[n % 4]!)));
  await eventually(async () => {
    const { rows } = await world.pool.query(
      `select count(*)::int as delivered from delivery where status = 'delivered' and merchant_id = any($1)`,
      [merchants.map(({ merchantId }) => merchantId)],
    );
    expect(rows).toEqual([{ delivered: payments.length }]);
  });
  const ids = merchants.flatMap(({ host }) =>
    world.receiver.received(host).map(({ headers }) => headers['x-service-event-id']),
  );
  expect(ids).toHaveLength(80);
  expect(new Set(ids).size).toBe(80);
  await other.stop();
});

test('a dispatcher with a different encryption key refuses to start', async () => {
  const key = Buffer.alloc(32, 1).toString('base64');
  await expect(world.start({ WEBHOOK_ENCRYPTION_KEY: key })).rejects.toThrow('WEBHOOK_ENCRYPTION_KEY');
});
