import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { PaymentPaid } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { faultProxy, type FaultProxy } from '@quittance/testkit/fault-proxy.ts';
import type { ServiceProcess } from '@quittance/testkit/service-process.ts';
import { status } from '../receiver.ts';
import type { Merchant } from '../world.ts';
import { openSite, type Site } from './site.ts';
import { createGate, shareOf } from './visits.ts';

let site: Site;
let database: FaultProxy;
let broker: FaultProxy;
let dispatchers: ServiceProcess[];
beforeAll(async () => {
  site = await openSite();
  const { world } = site;
  [database, broker] = await Promise.all([
    faultProxy({ target: world.database.url }),
    faultProxy({ target: world.broker.url }),
  ]);
  await world.dispatcher().stop();
  dispatchers = await startBoth();
});
afterEach(async () => expect(await site.violations()).toEqual([]));
afterAll(async () => {
  await stopBoth();
  await Promise.all([database.close(), broker.close()]);
  await site.world.stop();
});

const startBoth = () => {
  const settings = { DATABASE_URL: database.url, AMQP_URL: broker.url };
  return Promise.all([site.world.restart(settings), site.world.start(settings)]);
};

const stopBoth = () => Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));

/** Waits until a request is running, unless there is none for a while. */
const somethingLeased = (merchants: readonly Merchant[]): Promise<void> =>
  eventually(async () => expect(await site.count(merchants, 'lease_id is not null')).toBeGreaterThan(0), {
    timeoutMs: 500,
  }).catch(() => undefined);

/** The database stores outcomes, but its confirmation is lost. @returns the merchants of their 12 events. */
async function loseAnswers(): Promise<Merchant[]> {
  const gate = createGate();
  const merchants = await site.knownMerchants(4, () => gate.hold);
  await site.pay(merchants, 12);
  await eventually(() => expect(gate.held()).toBe(12));
  database.delay(500);
  gate.letGo(status(200));
  await eventually(async () => expect(await site.count(merchants, `status = 'delivered'`)).toBeGreaterThan(0), {
    intervalMs: 5,
  });
  database.cut();
  database.restore();
  return merchants;
}

/** Ends every session of the dispatchers. @returns how many there were. */
async function endSessions(): Promise<number> {
  const { rows } = await site.world.pool.query<{ ended: boolean }>(
    `select pg_terminate_backend(pid) as ended from pg_stat_activity
      where application_name = 'webhook-dispatcher' and datname = current_database()`,
  );
  return rows.filter(({ ended }) => ended).length;
}

test('answers of receivers are stored once, and no event is sent again, while database sessions keep ending', async () => {
  const merchants = await site.merchants(20, ({ event, nth }) =>
    status(nth < 4 && shareOf(event.description, nth) < 0.2 ? 500 : 200),
  );
  const events = 600;
  let ended = 0;
  for (let round = 1; round <= 8; round += 1) {
    const paying = site.pay(merchants, events / 8);
    await somethingLeased(merchants);
    ended += await endSessions();
    await somethingLeased(merchants);
    database.cut();
    database.restore();
    await paying;
  }
  expect(ended).toBeGreaterThan(8);
  const unanswered = await loseAnswers();

  // A claim that took effect but whose answer was lost left leases that no process has.
  await eventually(async () =>
    expect(await site.count(merchants, `status <> 'pending' or lease_id is not null`)).toBe(events),
  );
  expect(await stopBoth()).toEqual([0, 0]);
  await site.lapseLeases(merchants);
  dispatchers = await startBoth();
  await site.delivered(merchants, events);
  await site.delivered(unanswered, 12);
  expect([...site.book.acceptances().values()].filter((times) => times > 1)).toEqual([]);
});

test('answers of receivers that arrive while the database is unavailable are stored when it is back', async () => {
  const gate = createGate();
  const merchants = await site.knownMerchants(10, () => gate.hold);
  await site.pay(merchants, 60);
  await eventually(() => expect(gate.held()).toBe(60));
  const before = dispatchers.map((dispatcher) => dispatcher.log().length);
  database.cut();
  gate.letGo(status(200));
  await eventually(() => {
    const newLines = dispatchers.map((dispatcher, n) => dispatcher.log().slice(before[n]));
    expect(newLines.some((log) => log.includes('outcomes could not be written yet'))).toBe(true);
  });
  expect(await site.count(merchants, `status = 'pending' and lease_id is not null and attempts = 0`)).toBe(60);

  database.restore();
  await site.delivered(merchants, 60);
  expect(await site.count(merchants, `attempts = 1 and interruptions = 0`)).toBe(60);
  expect(gate.held()).toBe(0);
});

test('deliveries and manual retries continue without the broker, and messages that the broker lost arrive when payments replays them', async () => {
  const gate = createGate();
  const merchants = await site.merchants(5, () => gate.hold);
  const [failing] = await site.merchants(1, ({ nth }) => status(nth <= 9 ? 500 : 200));
  await site.pay([failing!], 1);
  await eventually(async () => expect(await site.count([failing!], `status = 'failed'`)).toBe(1));
  await site.pay(merchants, 50);
  await eventually(() => expect(gate.held()).toBeGreaterThan(0));
  await eventually(async () => expect(await site.count(merchants)).toBe(50));

  broker.cut();
  for (const { host } of merchants) site.book.treat(host, () => status(200));
  gate.letGo(status(200));
  await site.delivered(merchants, 50);
  const { event } = site.book.of(failing!.host)[0]!;
  const retry = `/merchants/${failing!.merchantId}/events/${event.event_id}/retry`;
  expect((await site.world.call('POST', retry)).status).toBe(202);
  await site.delivered([failing!], 1);

  const lost = await site.pay(merchants, 30);
  const queue = `/api/queues/${site.world.broker.vhost}/webhook-dispatcher.payment-paid`;
  await eventually(async () => {
    await site.world.broker.manage('DELETE', `${queue}/contents`);
  });
  broker.restore();
  await Promise.all(lost.map((payment) => site.world.publish(PaymentPaid, payment)));
  await site.delivered(merchants, 80);
  expect([...site.book.acceptances().values()].filter((times) => times > 1)).toEqual([]);
});
