import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { status, type Answer } from '../receiver.ts';
import type { Merchant } from '../world.ts';
import { openSite, type Site } from './site.ts';
import { createGate, reset } from './visits.ts';

let site: Site;
let endless: Merchant[];
beforeAll(async () => {
  site = await openSite();
  // Its attempts last until their time limit, so they start first and are checked last.
  endless = await site.merchants(2, ({ event }) => (Number(event.description.slice(-1)) % 2 === 0 ? trickle : flood));
  await site.pay(endless, 4);
});
afterEach(async () => expect(await site.violations()).toEqual([]));
afterAll(() => site.world.stop());

/** 200, and then an endless body, slow or as fast as it is read. */
const trickle: Answer = (response) => {
  response.writeHead(200).write('.');
  const dripping = setInterval(() => response.write('.'), 500);
  response.once('close', () => clearInterval(dripping));
};
const flood: Answer = (response) => {
  response.writeHead(200);
  const pour = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(16_384)));
  };
  response.on('drain', pour);
  pour();
};

const visitsOf = (merchants: readonly Merchant[]) => merchants.flatMap(({ host }) => site.book.of(host));

const categoriesOf = async (merchants: readonly Merchant[]): Promise<Record<string, number>> => {
  const { rows } = await site.world.pool.query<{ category: string; count: number }>(
    `select coalesce(error_category, 'none') as category, count(*)::int from attempt join event using (event_id)
      where merchant_id = any($1) group by 1`,
    [merchants.map(({ merchantId }) => merchantId)],
  );
  return Object.fromEntries(rows.map(({ category, count }) => [category, count]));
};

test('a receiver that resets the connection after it has read an event gets it exactly once more, with the same bytes', async () => {
  const merchants = await site.merchants(10, ({ nth }) => (nth === 1 ? reset : status(200)));
  await site.pay(merchants, 100);
  await site.delivered(merchants, 100);
  // On a busy machine some may not have connected in time, which sends nothing.
  const { connect_timeout: _unsent, ...made } = await categoriesOf(merchants);
  expect(made).toEqual({ connection_reset: 100, none: 100 });
  const visits = Map.groupBy(visitsOf(merchants), ({ event }) => event.event_id);
  expect([...visits.values()].map((same) => same.length)).toEqual(Array(100).fill(2));
  expect([...visits.values()].every(([first, second]) => first!.body.equals(second!.body))).toBe(true);
});

test('while a tenth of the receivers hang, all events of the others arrive', async () => {
  const gate = createGate();
  const hanging = await site.knownMerchants(2, () => gate.hold);
  const others = await site.merchants(18);
  await site.pay(hanging, 40);
  // Each has as many in flight as one merchant may have.
  await eventually(() => expect(gate.held()).toBe(16));
  await site.pay(others, 360);
  await site.delivered(others, 360);
  expect(await site.count(hanging, `status = 'delivered'`)).toBe(0);
  // Those that have hung for fifteen seconds make room for as many.
  await eventually(async () => expect(await site.count(hanging, `lease_id is not null`)).toBe(16));

  for (const { host } of hanging) site.book.treat(host, () => status(200));
  gate.letGo(status(200));
  await site.delivered(hanging, 40);
});

test('an event for a receiver whose certificate has expired waits, and arrives when the certificate is renewed', async () => {
  const [merchant] = (await site.merchants(1)) as [Merchant];
  const host = `expired.${merchant.host}`;
  site.book.treat(host, () => status(200));
  const url = `https://${host}/`;
  expect((await site.world.call('PUT', `/merchants/${merchant.merchantId}/webhook`, { url })).status).toBe(200);
  const [payment] = await site.pay([merchant], 1);
  const { event_id: eventId } = await eventually(async () => {
    const delivery = await site.world.delivery(payment!);
    expect(delivery).toMatchObject({ status: 'failed', error_category: 'tls_error' });
    return delivery;
  });
  expect(site.book.of(host)).toEqual([]);

  site.world.receiver.renew(host);
  const retry = `/merchants/${merchant.merchantId}/events/${eventId}/retry`;
  expect((await site.world.call('POST', retry)).status).toBe(202);
  await site.delivered([merchant], 1);
  expect(site.book.of(host)).toHaveLength(1);
});

test('a status line of 200 is a success, even if the body never ends', async () => {
  await site.delivered(endless, 4);
  expect(await site.count(endless, 'attempts = 1 and interruptions = 0')).toBe(4);
  expect(visitsOf(endless)).toHaveLength(4);
  await eventually(() => expect(visitsOf(endless).filter(({ open }) => open)).toEqual([]));
});
