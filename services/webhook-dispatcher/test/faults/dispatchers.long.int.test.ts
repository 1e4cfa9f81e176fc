import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { amountOf } from '@quittance/testkit/random-runs.ts';
import type { ServiceProcess } from '@quittance/testkit/service-process.ts';
import { status } from '../receiver.ts';
import type { Merchant } from '../world.ts';
import { openSite, type Site } from './site.ts';
import { createGate, type Visit } from './visits.ts';

let site: Site;
let dispatchers: ServiceProcess[];
beforeAll(async () => {
  site = await openSite();
  dispatchers = [site.world.dispatcher()];
});
afterEach(async () => expect(await site.violations()).toEqual([]));
afterAll(async () => {
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));
  await site.world.stop();
});

/** Two dispatchers from here on, with any tests before. */
async function startSecond(): Promise<void> {
  if (dispatchers.length < 2) dispatchers.push(await site.world.restart());
}

const attemptsOf = async (merchants: readonly Merchant[]): Promise<number> => {
  const { rows } = await site.world.pool.query<{ made: number }>(
    `select count(*)::int as made from attempt join event using (event_id) where merchant_id = any($1)`,
    [merchants.map(({ merchantId }) => merchantId)],
  );
  return rows[0]!.made;
};

test('late failures of a frozen dispatcher are ignored, and its late successes count', async () => {
  const [first, second] = [createGate(), createGate()];
  const byAnother = await site.knownMerchants(4, ({ nth }) => (nth === 1 ? first.hold : status(200)));
  const givenUp = await site.knownMerchants(2, ({ nth }) => (nth === 1 ? first.hold : status(500)));
  const underWay = await site.knownMerchants(2, ({ nth }) => (nth === 1 ? first.hold : second.hold));
  const all = [...byAnother, ...givenUp, ...underWay];
  await site.pay(all, 48);
  await eventually(() => expect(first.held()).toBe(48));

  const [frozen] = dispatchers as [ServiceProcess];
  frozen.pause();
  await site.lapseLeases(all);
  dispatchers.push(await site.world.restart());
  await site.delivered(byAnother, 24);
  await eventually(async () => expect(await site.count(givenUp, `status = 'failed' and attempts = 9`)).toBe(12));
  await eventually(() => expect(second.held()).toBe(12));
  const before = await attemptsOf(all);

  // The frozen one saw refusals of events that others delivered, successes of events that others gave up, and refusals of running ones.
  const isRefused = ({ event, host }: Visit): boolean =>
    underWay.some((merchant) => merchant.host === host) ||
    (byAnother.some((merchant) => merchant.host === host) && Number(event.description.slice(-1)) % 2 === 0);
  first.letGo((response, request, received) => {
    const visit = site.book.all.find(({ body }) => body.equals(received.body))!;
    status(isRefused(visit) ? 500 : 200)(response, request, received);
  });
  frozen.resume();
  await eventually(async () => expect(await attemptsOf(all)).toBe(before + 48));
  expect(await site.count(byAnother, `status = 'delivered' and attempts = 1 and interruptions = 1`)).toBe(24);
  expect(await site.count(givenUp, `status = 'delivered'`)).toBe(12);
  expect(await site.count(underWay, `status = 'pending' and attempts = 0 and lease_id is not null`)).toBe(12);
  expect(second.held()).toBe(12);

  second.letGo(status(200));
  await site.delivered(underWay, 12);
  expect(await site.count(underWay, 'attempts = 1')).toBe(12);
});

test('every event that is claimed after the answer to a rotation or a PUT has the new key and the new URL', async () => {
  await startSecond();
  const merchants = await site.merchants(6);
  const changes: Change[] = [];
  const rounds = amountOf({ short: 12, long: 24 });
  for (let round = 0; round < rounds; round += 1) {
    const merchant = merchants[round % merchants.length]!;
    const [change] = await Promise.all([changeEndpoint(merchant, `/version/${round}`), site.pay(merchants, 24)]);
    changes.push(change);
  }
  await site.delivered(merchants, rounds * 24);

  let looked = 0;
  for (const [position, { merchant, keyId, path, leased, from }] of changes.entries()) {
    const next = changes.findIndex((change, later) => later > position && change.merchant === merchant);
    // The merchant's next change starts after the one before it has ended.
    const visits = site.book.all.slice(from, changes[next - 1]?.from).filter(({ host }) => host === merchant.host);
    for (const visit of visits.filter((one) => !leased.has(one.event.event_id))) {
      expect([visit.headers['x-service-key-id'], visit.path]).toEqual([keyId, path]);
      looked += 1;
    }
  }
  expect(looked).toBeGreaterThan(100);
});

type Change = {
  merchant: Merchant;
  keyId: string;
  path: string;
  /** Events that may have been claimed before the change. */
  leased: Set<string>;
  /** Earlier requests are not checked. */
  from: number;
};

async function changeEndpoint(merchant: Merchant, path: string): Promise<Change> {
  const keyId = await site.rotate(merchant);
  const url = `https://${merchant.host}${path}`;
  expect((await site.world.call('PUT', `/merchants/${merchant.merchantId}/webhook`, { url })).status).toBe(200);
  const { rows } = await site.world.pool.query<{ event_id: string }>(
    `select event_id from delivery where lease_id is not null and merchant_id = $1`,
    [merchant.merchantId],
  );
  return { merchant, keyId, path, leased: new Set(rows.map((row) => row.event_id)), from: site.book.all.length };
}

test('dispatchers that are stopped one by one under load lose no event and send none twice', async () => {
  await startSecond();
  // Long enough that requests are always running.
  const merchants = await site.merchants(
    20,
    () => (response) => void setTimeout(() => response.writeHead(200).end(), 30),
  );
  const hosts = new Set(merchants.map(({ host }) => host));
  const visits = () => site.book.all.filter(({ host }) => hosts.has(host));
  for (let stop = 1; stop <= 3; stop += 1) {
    const paying = site.pay(merchants, 200);
    await eventually(() => expect(visits().some(({ open }) => open)).toBe(true), { intervalMs: 5 });
    expect(await dispatchers.shift()!.stop()).toBe(0);
    dispatchers.push(await site.world.restart());
    await paying;
  }
  await site.delivered(merchants, 600);
  expect(await site.count(merchants, 'interruptions = 0')).toBe(600);
  expect(visits()).toHaveLength(600);
  // On a busy machine some may not have connected in time, which sends nothing.
  const { rows } = await site.world.pool.query(
    `select error_category, count(*)::int from attempt join event using (event_id)
      where merchant_id = any($1) and error_category is distinct from 'connect_timeout' group by 1`,
    [merchants.map(({ merchantId }) => merchantId)],
  );
  expect(rows).toEqual([{ error_category: null, count: 600 }]);
});

const RETRIES = amountOf({ short: 200, long: 1_000 });

test(`of ${RETRIES} retries at once, to two dispatchers, exactly one starts a cycle, and of as many retries and recoveries`, async () => {
  await startSecond();
  const [merchant] = (await site.merchants(1, () => status(500))) as [Merchant];
  await site.pay([merchant], 1);
  await eventually(async () => expect(await site.count([merchant], `status = 'failed'`)).toBe(1));
  const { event_id: eventId } = site.book.of(merchant.host)[0]!.event;
  const retry = [`/merchants/${merchant.merchantId}/events/${eventId}/retry`] as const;
  const recover = [`/events/${eventId}/recover`, { actor: 'olga', reason: 'their receiver was down' }] as const;

  await hold(merchant, 1);
  expect(await askAtOnce(() => retry)).toEqual({ 202: 1, 409: RETRIES - 1 });
  expect(await cycleOf(eventId)).toEqual({ cycle: 2, attempts: 0, status: 'pending', audited: ['event_retried'] });

  await site.world.setStatus(merchant.merchantId, 'active', 2);
  await eventually(async () => expect(await site.count([merchant], `status = 'failed'`)).toBe(1));
  await hold(merchant, 3);
  expect(await askAtOnce((n) => (n % 4 < 2 ? retry : recover))).toEqual({ 202: 1, 409: RETRIES - 1 });
  expect(await cycleOf(eventId)).toMatchObject({
    cycle: 3,
    attempts: 0,
    audited: ['event_retried', expect.any(String)],
  });

  site.book.treat(merchant.host, () => status(200));
  await site.world.setStatus(merchant.merchantId, 'active', 4);
  await site.delivered([merchant], 1);
});

test('a dispatcher whose clock is 400 seconds fast sends nothing and says why; with a correct clock it sends everything', async () => {
  for (const dispatcher of dispatchers.splice(0)) expect(await dispatcher.stop()).toBe(0);
  const merchants = await startWith(FAST_CLOCK, () => site.merchants(5));
  await site.pay(merchants, 20);
  await eventually(async () =>
    expect(await site.world.metrics()).toMatch(/^webhook_paused\{[^}]*reason="clock"[^}]*\} 1$/m),
  );
  await eventually(async () => expect(await site.count(merchants, 'lease_id is null')).toBe(20));
  await eventually(async () => expect(await site.world.metrics()).toMatch(/^clock_difference_seconds\S* (39\d|40\d)/m));
  expect(await dispatchers.pop()!.stop()).toBe(0);
  expect(
    await site.count(merchants, `status = 'pending' and attempts = 0 and interruptions = 0 and lease_id is null`),
  ).toBe(20);
  expect(merchants.flatMap(({ host }) => site.book.of(host))).toEqual([]);

  await startWith({}, () => site.delivered(merchants, 20));
  expect(await site.count(merchants, 'attempts = 1')).toBe(20);
});

/** Makes Node load a module before the service, which changes only its clock. */
const FAST_CLOCK = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`
    const now = Date.now;
    Date.now = () => now() + 400_000;
    globalThis.Date = new Proxy(Date, {
      construct: (Real, given, target) => Reflect.construct(Real, given.length === 0 ? [Date.now()] : given, target),
    });
  `)}`,
};

async function startWith<T>(settings: Record<string, string>, run: () => Promise<T>): Promise<T> {
  dispatchers.push(await site.world.restart(settings));
  return run();
}

/** Held, so that a cycle cannot end and start again during the calls. */
async function hold({ merchantId }: Merchant, version: number): Promise<void> {
  await site.world.setStatus(merchantId, 'blocked', version);
  await eventually(async () => {
    const { rowCount } = await site.world.pool.query(`select 1 from lane where merchant_id = $1 and held`, [
      merchantId,
    ]);
    expect(rowCount).toBe(1);
  });
}

/** Makes all calls concurrently, and repeats those answered 503. @returns how often each status was answered. */
async function askAtOnce(
  call: (n: number) => readonly [path: string, body?: unknown],
): Promise<Record<number, number>> {
  const ask = (n: number): Promise<number> =>
    eventually(
      async () => {
        const [path, body] = call(n);
        const answer = await site.callAt(dispatchers[n % dispatchers.length]!, 'POST', path, body);
        expect(answer.status).not.toBe(503);
        return answer.status;
      },
      { timeoutMs: 60_000, intervalMs: 500 },
    );
  const statuses = await Promise.all(Array.from({ length: RETRIES }, (_, n) => ask(n)));
  return Object.fromEntries([...Map.groupBy(statuses, (code) => code)].map(([code, same]) => [code, same.length]));
}

async function cycleOf(eventId: string): Promise<unknown> {
  const { rows } = await site.world.pool.query(
    `select cycle, attempts, status, (select array_agg(action order by at) from audit where event_id = $1) as audited
       from delivery where event_id = $1`,
    [eventId],
  );
  return rows[0];
}
