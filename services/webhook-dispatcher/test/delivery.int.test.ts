import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import type { PaymentPaid } from '@quittance/contracts/messages.ts';
import type { WebhookEvent } from '@quittance/contracts/webhook.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { status, type Received } from './receiver.ts';
import { startWorld, type Merchant, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const eventOf = ({ body }: Received) => JSON.parse(body.toString()) as WebhookEvent;

/** As the API contract tells receivers to verify. */
function verify(request: Received, { keyId, signingKey }: Pick<Merchant, 'keyId' | 'signingKey'>): void {
  const { headers, body } = request;
  const timestamp = String(headers['x-service-timestamp']);
  expect(timestamp).toMatch(/^\d{1,12}$/);
  expect(Math.abs(Date.now() / 1000 - Number(timestamp))).toBeLessThan(300);
  const signature = createHmac('sha256', signingKey).update(`${timestamp}.`).update(body).digest('hex');
  expect(headers['x-service-signature']).toBe(`v1=${signature}`);
  expect(headers['x-service-key-id']).toBe(keyId);
  expect(headers['x-service-event-id']).toBe(eventOf(request).event_id);
}

const ends = (payment: PaymentPaid, expected: object) =>
  eventually(async () => {
    const delivery = await world.delivery(payment);
    expect(delivery).toMatchObject(expected);
    return delivery;
  });

describe('a paid payment', () => {
  test('becomes one event, delivered by one verified POST to the endpoint', async () => {
    const merchant = await world.merchant();
    const payment = await world.pay(merchant);
    const delivery = await ends(payment, { status: 'delivered' });

    const requests = world.receiver.received(merchant.host);
    expect(requests).toHaveLength(1);
    const [request] = requests as [Received];
    verify(request, merchant);
    expect(request.path).toBe('/pay?tenant=7');
    expect(request.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Quittance' });
    expect(eventOf(request)).toEqual({
      event_id: delivery.event_id,
      payment_id: payment.payment_id,
      status: 'PAID',
      expected_amount: '10.50',
      transaction_id: payment.transaction_id,
      transaction_event_index: 3,
      description: payment.description,
    });
    expect(delivery).toEqual({
      event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      payment_id: payment.payment_id,
      event_type: null,
      status: 'delivered',
      attempts: 1,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      last_attempt_at: expect.any(String),
      next_attempt_at: null,
      delivered_at: expect.any(String),
      error_category: null,
    });
  });

  test('whose message arrives twice becomes one event', async () => {
    const merchant = await world.merchant();
    const payment = await world.pay(merchant);
    await world.pay(merchant, payment);
    await world.pay(merchant, { ...payment, description: 'said differently' });
    const next = await world.pay(merchant);
    await ends(payment, { status: 'delivered' });
    await ends(next, { status: 'delivered' });
    const ids = world.receiver.received(merchant.host).map((request) => eventOf(request).payment_id);
    expect(ids.toSorted()).toEqual([payment.payment_id, next.payment_id].toSorted());
  });

  test('of a merchant without an endpoint waits for it', async () => {
    const merchant_id = newId('mer');
    const payment = await world.pay({ merchantId: merchant_id });
    await ends(payment, { status: 'pending', attempts: 0 });
    const host = `${merchant_id.slice(-12)}.late.io`;
    await world.call('PUT', `/merchants/${merchant_id}/webhook`, { url: `https://${host}/` });
    await ends(payment, { status: 'delivered', attempts: 1 });
  });

  test('is sent on the connection of the previous one', async () => {
    const merchant = await world.merchant();
    for (let n = 0; n < 3; n += 1) await ends(await world.pay(merchant), { status: 'delivered' });
    expect(world.receiver.received(merchant.host)).toHaveLength(3);
    expect(world.receiver.connections(merchant.host)).toBe(1);
  });
});

describe('a failing receiver', () => {
  test('that recovers gets the same bytes again, with a new signature', async () => {
    const merchant = await world.merchant();
    world.receiver.answer(merchant.host, status(500), status(200));
    const payment = await world.pay(merchant);
    await ends(payment, { status: 'delivered', attempts: 2, error_category: null });
    const [first, second] = world.receiver.received(merchant.host) as [Received, Received];
    verify(first, merchant);
    verify(second, merchant);
    expect(second.body.equals(first.body)).toBe(true);
  });

  test("uses up its retries, and the merchant's retry delivers the same event", async () => {
    const merchant = await world.merchant();
    world.receiver.answer(merchant.host, status(503));
    const payment = await world.pay(merchant);
    const failed = await ends(payment, {
      status: 'failed',
      attempts: 3,
      error_category: 'http_5xx',
      next_attempt_at: null,
    });
    expect(world.receiver.received(merchant.host)).toHaveLength(3);

    world.receiver.answer(merchant.host, status(200));
    const retry = `/merchants/${merchant.merchantId}/events/${failed.event_id}/retry`;
    const answer = await world.call('POST', retry);
    expect(answer).toMatchObject({
      status: 202,
      body: { event_id: failed.event_id, status: 'pending', attempts: 0, error_category: null, delivered_at: null },
    });
    await ends(payment, { status: 'delivered', attempts: 1 });
    const requests = world.receiver.received(merchant.host);
    expect(requests).toHaveLength(4);
    expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1);
    expect(await world.call('POST', retry)).toMatchObject({ status: 409, body: { detail: expect.any(String) } });
    const { rows } = await world.pool.query(`select action, actor from audit where event_id = $1`, [failed.event_id]);
    expect(rows).toEqual([{ action: 'event_retried', actor: 'merchant' }]);
  });

  test('starts one cycle, with one audit row, for twenty concurrent retries', async () => {
    const merchant = await world.merchant();
    world.receiver.answer(merchant.host, status(500));
    const { event_id } = await ends(await world.pay(merchant), { status: 'failed' });
    const retry = `/merchants/${merchant.merchantId}/events/${event_id}/retry`;
    // Held, so that the cycle cannot end and start again during the calls.
    await world.setStatus(merchant.merchantId, 'blocked', 1);
    await eventually(async () => {
      const { rows } = await world.pool.query(`select held from lane where merchant_id = $1`, [merchant.merchantId]);
      expect(rows).toEqual([{ held: true }]);
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.callUntilServed('POST', retry)));
    expect(answers.filter(({ status: code }) => code === 202)).toHaveLength(1);
    expect(answers.filter(({ status: code }) => code === 409)).toHaveLength(19);
    const { rows } = await world.pool.query(`select cycle from delivery where event_id = $1`, [event_id]);
    expect(rows).toEqual([{ cycle: 2 }]);
    const audit = await world.pool.query(`select 1 from audit where event_id = $1`, [event_id]);
    expect(audit.rowCount).toBe(1);
  });

  test("has the same 404 for a retry of an unknown event and of another merchant's", async () => {
    const [merchant, other] = [await world.merchant(), await world.merchant()];
    world.receiver.answer(merchant.host, status(500));
    const { event_id } = await ends(await world.pay(merchant), { status: 'failed' });
    const foreign = await world.call('POST', `/merchants/${other.merchantId}/events/${event_id}/retry`);
    const unknown = await world.call('POST', `/merchants/${other.merchantId}/events/${newId('evt')}/retry`);
    expect(foreign).toMatchObject({ status: 404 });
    expect(foreign).toEqual(unknown);
  });

  test('that redirects fails, and the redirect is not followed', async () => {
    const [merchant, elsewhere] = [await world.merchant(), await world.merchant()];
    world.receiver.answer(merchant.host, status(302, { location: `https://${elsewhere.host}/` }));
    await ends(await world.pay(merchant), { status: 'failed', error_category: 'redirect' });
    expect(world.receiver.connections(elsewhere.host)).toBe(0);
  });

  test('leaves a record of every attempt with what a merchant needs to find the fault', async () => {
    const merchant = await world.merchant();
    world.receiver.answer(merchant.host, status(404), status(200));
    const { event_id } = await ends(await world.pay(merchant), { status: 'delivered' });
    const { rows } = await world.pool.query(
      `select cycle, n, key_id, http_status, error_category, host(remote_ip) as remote_ip, duration_ms >= 0 as timed
         from attempt where event_id = $1 order by n`,
      [event_id],
    );
    const common = { cycle: 1, key_id: merchant.keyId, remote_ip: '127.0.0.1', timed: true };
    expect(rows).toEqual([
      { ...common, n: 1, http_status: 404, error_category: 'http_4xx' },
      { ...common, n: 2, http_status: 200, error_category: null },
    ]);
    const misplaced = await world.pool.query('select 1 from attempt_default');
    expect(misplaced.rowCount).toBe(0);
  });
});

describe('a change of the endpoint', () => {
  test('applies a new signing key and a new URL to the next attempt', async () => {
    const merchant = await world.merchant();
    world.receiver.answer(merchant.host, status(500));
    const { event_id } = await ends(await world.pay(merchant), { status: 'failed' });
    const rotated = await world.call('POST', `/merchants/${merchant.merchantId}/webhook/rotate-key`);
    const host = `new.${merchant.host}`;
    await world.call('PUT', `/merchants/${merchant.merchantId}/webhook`, { url: `https://${host}/v2` });
    await world.call('POST', `/merchants/${merchant.merchantId}/events/${event_id}/retry`);
    const [request] = await eventually(() => {
      const requests = world.receiver.received(host);
      expect(requests).toHaveLength(1);
      return requests as [Received];
    });
    verify(request, { keyId: rotated.body.key_id, signingKey: rotated.body.signing_key });
    expect(request.path).toBe('/v2');
  });

  test('does not dial a stored URL that the policy forbids', async () => {
    const merchant = await world.merchant();
    await world.pool.query(
      `update endpoint set url = 'https://127.0.0.1/', host = '127.0.0.1' where merchant_id = $1`,
      [merchant.merchantId],
    );
    const before = world.receiver.connections('');
    await ends(await world.pay(merchant), { status: 'failed', error_category: 'dns_error' });
    expect(world.receiver.connections(merchant.host) + world.receiver.connections('') - before).toBe(0);
  });

  test('to a name that no longer exists causes a DNS error', async () => {
    const merchant = await world.merchant();
    await world.pool.query(`update endpoint set url = 'https://gone.invalid/' where merchant_id = $1`, [
      merchant.merchantId,
    ]);
    await ends(await world.pay(merchant), { status: 'failed', error_category: 'dns_error' });
  });
});

test('a signing key that cannot be opened uses no attempt, and delays no other merchant', async () => {
  const [merchant, other] = [await world.merchant(), await world.merchant()];
  await world.pool.query(`update signing_key set secret_encrypted = '\\x00' where key_id = $1`, [merchant.keyId]);
  const payment = await world.pay(merchant);
  await eventually(() => expect(world.dispatcher().log()).toContain('a signing key cannot be opened'));
  await ends(await world.pay(other), { status: 'delivered' });
  const released = await ends(payment, { status: 'pending', attempts: 0, error_category: null });
  // It is released, and its lane put off, after the log line.
  await eventually(async () => {
    const { rows } = await world.pool.query(`select circuit_state from lane where merchant_id = $1`, [
      merchant.merchantId,
    ]);
    expect(rows).toEqual([{ circuit_state: 'open' }]);
  });
  expect(world.receiver.connections(merchant.host)).toBe(0);

  const rotated = await world.call('POST', `/merchants/${merchant.merchantId}/webhook/rotate-key`);
  await world.makeDue(released.event_id);
  await ends(payment, { status: 'delivered', attempts: 1 });
  const [request] = world.receiver.received(merchant.host) as [Received];
  verify(request, { keyId: rotated.body.key_id, signingKey: rotated.body.signing_key });
});

describe('a blocked account', () => {
  test('holds its events without using an attempt, and sends them after unblocking', async () => {
    const [merchant, other] = [await world.merchant(), await world.merchant()];
    await world.setStatus(merchant.merchantId, 'blocked', 5);
    await eventually(async () => {
      const { rows } = await world.pool.query(`select held from lane where merchant_id = $1`, [merchant.merchantId]);
      expect(rows).toEqual([{ held: true }]);
    });
    const payment = await world.pay(merchant);
    await ends(payment, { status: 'pending' });
    // A delivery of another merchant later, nothing has been sent; an old message does not change that.
    await world.setStatus(merchant.merchantId, 'active', 4);
    await ends(await world.pay(other), { status: 'delivered' });
    expect(await world.delivery(payment)).toMatchObject({ status: 'pending', attempts: 0, error_category: null });
    expect(world.receiver.connections(merchant.host)).toBe(0);

    await world.setStatus(merchant.merchantId, 'active', 6);
    await ends(payment, { status: 'delivered', attempts: 1 });
  });
});

describe('operators', () => {
  test('see failed events and recover them, with their name in the audit log', async () => {
    const merchant = await world.merchant();
    world.receiver.answer(merchant.host, status(500), status(500), status(500), status(200));
    const payment = await world.pay(merchant);
    const { event_id } = await ends(payment, { status: 'failed' });
    const list = await world.call('GET', `/events?status=failed&merchant_id=${merchant.merchantId}`);
    expect(list).toMatchObject({
      status: 200,
      body: { events: [{ event_id, merchant_id: merchant.merchantId, status: 'failed', attempts: 3, cycle: 1 }] },
    });
    expect(await world.call('POST', `/events/${event_id}/recover`, { actor: 'olga' })).toEqual({
      status: 422,
      body: { detail: [{ field: 'reason', reason: expect.any(String) }], code: 'invalid_request' },
    });
    const author = { actor: 'olga', reason: 'receiver is back' };
    expect(await world.call('POST', `/events/${event_id}/recover`, author)).toMatchObject({
      status: 202,
      body: { event_id, status: 'pending', attempts: 0 },
    });
    await ends(payment, { status: 'delivered' });
    expect(await world.call('POST', `/events/${event_id}/recover`, author)).toMatchObject({ status: 409 });
    expect(await world.call('POST', `/events/${newId('evt')}/recover`, author)).toMatchObject({ status: 404 });
    const { rows } = await world.pool.query(`select action, actor, reason from audit where event_id = $1`, [event_id]);
    expect(rows).toEqual([{ action: 'event_recovered', ...author }]);
    const { body: described } = await world.call('GET', `/events/${event_id}`);
    expect(described).toMatchObject({ retries: [{ at: expect.any(String), action: 'event_recovered', ...author }] });
    expect(await world.call('GET', '/events?status=pending')).toMatchObject({ status: 422 });
  });

  test('page through failed events, of one merchant or of all, with their total', async () => {
    const [merchant, other] = [await world.merchant(), await world.merchant()];
    const ids = Array.from({ length: 103 }, () => newId('evt')).sort();
    // As if their attempts were used up; really failing them would take a thousand deliveries.
    await world.pool.query(
      `with stored as (
         insert into event (event_id, payment_id, merchant_id, body, created_at)
         select id, 'pay_' || id, case when right(id, 2) = right($4, 2) then $3 else $2 end, '', now() from unnest($1::text[]) id
         returning *
       )
       insert into delivery (event_id, merchant_id, status, attempts, created_at, error_category)
       select event_id, merchant_id, 'failed', 3, created_at, 'http_5xx' from stored`,
      [ids, merchant.merchantId, other.merchantId, ids[7]],
    );
    type Page = { events: { event_id: string; merchant_id: string }[]; total: number };
    const page = async (query: string) =>
      (await world.call('GET', `/events?status=failed${query}`)).body as unknown as Page;
    const mine = `&merchant_id=${merchant.merchantId}`;
    const first = await page('');
    const rest = await page(`&after=${first.events.at(-1)!.event_id}`);
    expect(first.events).toHaveLength(100);
    const all = [...first.events, ...rest.events].map(({ event_id }) => event_id);
    expect(all).toEqual([...new Set(all)].sort());
    expect(ids.every((id) => all.includes(id))).toBe(true);
    expect([first.total, rest.total]).toEqual([all.length, all.length]);

    const own = [...(await page(mine)).events, ...(await page(`${mine}&after=${ids[99]!}`)).events];
    expect(own.every(({ merchant_id }) => merchant_id === merchant.merchantId)).toBe(true);
    expect((await page(mine)).total).toBe(ids.filter((id) => id.slice(-2) !== ids[7]!.slice(-2)).length);
    // An event that was recovered meanwhile still marks a position in the list.
    await world.pool.query(
      `update delivery set status = 'delivered', delivered_at = now(), error_category = null where event_id = $1`,
      [ids[50]],
    );
    expect((await page(`${mine}&after=${ids[50]!}`)).events[0]?.event_id).toBe(
      ids.slice(51).find((id) => id.slice(-2) !== ids[7]!.slice(-2)),
    );
    expect(await world.call('GET', '/events?status=failed&after=x')).toMatchObject({ status: 422 });
    await world.pool.query(`delete from delivery where event_id = any($1)`, [ids]);
  });

  test('read the audit log of an endpoint, its key and its events, with actor, time and reason', async () => {
    const merchant = await world.merchant();
    const path = `/merchants/${merchant.merchantId}`;
    await world.call('PUT', `${path}/webhook`, { url: `${merchant.url}&moved=1` });
    await world.call('POST', `${path}/webhook/rotate-key`);
    world.receiver.answer(merchant.host, status(500), status(500), status(500), status(200));
    const { event_id } = await ends(await world.pay(merchant), { status: 'failed' });
    await world.call('POST', `/events/${event_id}/recover`, { actor: 'olga', reason: 'receiver is back' });
    type Entry = { at: string; action: string; actor: string; reason: string | null; event_id: string | null };
    const read = async (query = '') =>
      ((await world.call('GET', `${path}/audit${query}`)).body as unknown as { entries: Entry[] }).entries;
    const entries = await read();
    const byMerchant = { actor: 'merchant', reason: null, event_id: null };
    expect(entries).toMatchObject([
      { action: 'event_recovered', actor: 'olga', reason: 'receiver is back', event_id },
      { action: 'key_rotated', ...byMerchant },
      { action: 'endpoint_changed', ...byMerchant },
      { action: 'endpoint_configured', ...byMerchant },
    ]);
    expect(await read(`?before=${entries[0]!.at}`)).toEqual(entries.filter(({ at }) => at < entries[0]!.at));
    expect(JSON.stringify(entries)).not.toContain(merchant.host);
    expect(await world.call('GET', `${path}/audit?before=soon`)).toMatchObject({ status: 422 });
  });

  test('see attempts by result and the backlog in the metrics', async () => {
    const lines = (await world.metrics()).split('\n');
    const sample = (name: string, result?: string): number => {
      const line = lines.find((l) => l.startsWith(`${name}{`) && (result === undefined || l.includes(`"${result}"`)));
      return Number(line?.split(' ').at(-1));
    };
    expect(sample('webhook_attempts_total', 'delivered')).toBeGreaterThan(0);
    expect(sample('webhook_attempts_total', 'http_5xx')).toBeGreaterThan(0);
    expect(sample('webhook_attempt_duration_seconds_count', 'delivered')).toBeGreaterThan(0);
    expect(sample('webhook_claimed_deliveries_total')).toBeGreaterThan(0);
    expect(sample('webhook_backlog_deliveries')).toBeGreaterThanOrEqual(0);
    expect(sample('webhook_oldest_due_seconds')).toBeGreaterThanOrEqual(0);
  });
});

test('no signing key appears in the log or, in plain text, in the database', async () => {
  const merchant = await world.merchant();
  world.receiver.answer(merchant.host, status(500), status(200));
  await ends(await world.pay(merchant), { status: 'delivered' });
  await eventually(() => expect(world.dispatcher().log()).toContain(merchant.merchantId));
  expect(world.dispatcher().log()).not.toContain(merchant.signingKey);
  const { rows } = await world.pool.query<{ secret_encrypted: Buffer }>(
    `select secret_encrypted from signing_key where key_id = $1`,
    [merchant.keyId],
  );
  expect(rows[0]!.secret_encrypted.includes(merchant.signingKey.slice(6))).toBe(false);
});
