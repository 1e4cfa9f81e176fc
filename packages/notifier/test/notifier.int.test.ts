import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Call } from '@quittance/contracts/call.ts';
import { ReadNotices, SendTestNotice, SetNotices, type Notices } from '@quittance/contracts/http/notifier.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { NoticeRaised } from '@quittance/contracts/messages.ts';
import { createCallerHeaders } from '@quittance/http/call-token.ts';
import { requestHash } from '@quittance/http/confirmation.ts';
import { issueOperatorToken, OPERATOR_TOKEN_HEADER } from '@quittance/http/operator-token.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import { testDatabase, testPool, type TestDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { startServiceProcess, type ServiceProcess } from '@quittance/testkit/service-process.ts';
import { trustOf, trustSettingsOf } from '@quittance/testkit/trust.ts';
import { createAuthority, type Authority } from '../../../services/webhook-dispatcher/test/certificates.ts';
import { startWorld, type World } from '../../../services/webhook-dispatcher/test/world.ts';
import { documentedMetrics, shownMetrics } from '../../../tests/support/observability.ts';
import { migrations, schema } from '../src/migrations.ts';
import { startHttpServer, startMailServer } from './stand-ins.ts';

const HOST = 'notices.internal';
const TOKEN = '123456:AAbbCCddEEffGGhhIIjjKKllMM';
const choice = { language: 'en', email: ['anna@shop.example'], telegram_chat: '-100123' };
const author = { actor: 'anna', reason: 'no backend' };

let authority: Authority;
let world: World;
let database: TestDatabase;
let directory: string;
let hooksPort: number;
let settings: Record<string, string>;
let notifier: ServiceProcess;
let mail: Awaited<ReturnType<typeof startMailServer>>;
let telegram: Awaited<ReturnType<typeof startHttpServer>>;

async function startNotifier(): Promise<ServiceProcess> {
  const started = await startServiceProcess(new URL('../src/main.ts', import.meta.url), settings);
  await eventually(() => expect(started.log()).toContain('listening for webhooks'));
  return started;
}

/** The real dispatcher, for which the notifier is the only receiver there is. */
beforeAll(async () => {
  authority = await createAuthority();
  hooksPort = await freePort();
  [mail, telegram, database, directory, world] = await Promise.all([
    startMailServer(),
    startHttpServer(),
    testDatabase({ schema, migrations }),
    mkdtemp(join(tmpdir(), 'quittance-notifier-')),
    startWorld({
      authority,
      settings: {
        ...trustSettingsOf('webhook-dispatcher'),
        WEBHOOK_NOTIFIER: `${HOST}=10.20.30.40:${hooksPort}`,
        WEBHOOK_LOCAL_RECEIVER: `127.0.0.1:${hooksPort}`,
      },
    }),
  ]);
  const { cert, key } = await authority.certify(HOST);
  const [certificateFile, keyFile] = ['certificate.pem', 'key.pem'].map((name) => join(directory, name));
  await Promise.all([writeFile(certificateFile!, cert), writeFile(keyFile!, key)]);
  settings = {
    ...trustSettingsOf('notifier'),
    ...{ DATABASE_URL: database.url, WEBHOOK_DISPATCHER_URL: world.dispatcher().url, HOOKS_PORT: String(hooksPort) },
    ...{ HOOKS_CERTIFICATE_FILE: certificateFile!, HOOKS_KEY_FILE: keyFile! },
    NOTICES_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    ...{ SMTP_URL: mail.url, NOTICES_FROM: 'notices@pay.example', CONSOLE_URL: 'https://console.example' },
    ...{ TELEGRAM_BOT_TOKEN: TOKEN, TELEGRAM_API_URL: telegram.url },
  };
  notifier = await startNotifier();
});
afterAll(async () => {
  await Promise.all([notifier.stop(), world.stop()]);
  await Promise.all([mail.close(), telegram.close(), database.drop(), rm(directory, { recursive: true })]);
});
beforeEach(async () => {
  // An earlier test may have looked at one channel only, while the other was still sending.
  await eventually(async () => expect(await waitingNotices()).toBe(0));
  mail.mails.length = telegram.posted.length = 0;
  telegram.state.reply = () => ({ status: 200, body: { ok: true, result: {} } });
});

async function waitingNotices(): Promise<number> {
  const pool = testPool({ url: database.url, schema, max: 1 });
  const { rows } = await pool.query<{ waiting: number }>(
    `select count(*)::int as waiting from notice where state = 'waiting'`,
  );
  await pool.end();
  return rows[0]!.waiting;
}

const asOps = () => createCallerHeaders('ops', trustOf('ops'))('notifier');
/** @param asked the request that the person has confirmed, if any. */
const asPersonOf = (merchantId: string, asked?: { call: Call; body: object }) => {
  const confirms = asked && {
    confirms: requestHash(
      asked.call.method,
      asked.call.path.replace(':merchant_id', merchantId),
      JSON.stringify(asked.body),
    ),
  };
  return {
    [OPERATOR_TOKEN_HEADER]: issueOperatorToken(trustOf('api-gateway'), {
      ...{ name: 'anna', role: 'merchant', merchant_id: merchantId, merchant_role: 'owner', ...confirms },
    }),
  };
};

/** Repeated while it is answered 503: on a busy machine, the dispatcher's first answer may take too long. */
const call = (...request: Parameters<typeof callOnce>): ReturnType<typeof callOnce> =>
  eventually(async () => {
    const answer = await callOnce(...request);
    if (answer.status === 503) throw new Error('the call is answered 503');
    return answer;
  });

async function callOnce(
  { method, path }: Call,
  merchantId: string,
  { body, headers = asOps() }: { body?: object; headers?: Record<string, string> } = {},
) {
  const response = await fetch(notifier.url + path.replace(':merchant_id', merchantId), {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Notices & { detail: unknown } };
}

async function newMerchant(over: object = {}): Promise<string> {
  const merchantId = newId('mer');
  const { status } = await call(SetNotices, merchantId, { body: { ...choice, ...over, ...author } });
  expect(status).toBe(200);
  return merchantId;
}

/** A request to the port for webhooks, as anybody who reaches it could make it. @returns the status. */
const post = (path: string, body: Buffer, headers: Record<string, string>) =>
  new Promise<number>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: hooksPort, servername: HOST, ca: authority.certificate };
    const request = httpsRequest({ ...options, path, method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    request.on('error', reject);
    request.end(body);
  });

const unmatched = (merchantId: string): NoticeRaised => ({
  ...{ merchant_id: merchantId, event_type: 'transfer.unmatched', payment_id: null, expected_amount: null },
  ...{ description: null, transaction_id: randomBytes(32).toString('hex'), transaction_event_index: 1 },
  transfer: {
    ...{ amount: '49.89', reason: 'underpaid', network: 'tron', merchant_wallet: 'TWd4WrZ9wn84f5x1hZhL4DHvk738ns5jwb' },
    block_timestamp: new Date().toISOString(),
  },
});

test('a merchant without a backend is told of paid payments and of money that pays nothing', async () => {
  const merchantId = await newMerchant();
  const payment = await world.pay({ merchantId }, { order_id: 'A-7' });
  await eventually(() => expect([mail.mails.length, telegram.posted.length]).toEqual([1, 1]));
  const text =
    'Paid: 10.50 USDT\n\nOrder: A-7\nDescription: Two coffees, naïve "quotes" ☕\n' +
    `https://console.example/my/payments/${payment.payment_id}`;
  expect(telegram.posted[0]).toMatchObject({ path: `/bot${TOKEN}/sendMessage`, body: { chat_id: '-100123', text } });
  expect(mail.mails[0]).toMatchObject({ from: 'notices@pay.example', to: ['anna@shop.example'] });
  expect(mail.mails[0]!.raw).toContain('Subject: Paid: 10.50 USDT');
  await eventually(async () => expect(await world.delivery(payment)).toMatchObject({ status: 'delivered' }));

  await world.publish(NoticeRaised, unmatched(merchantId));
  await eventually(() => expect([mail.mails.length, telegram.posted.length]).toEqual([2, 2]));
  expect(telegram.posted[1]!.body['text']).toMatch(/^49\.89 USDT arrived, but it pays nothing\n\nFind out whose/);
});

test('an event that is delivered again is told once', async () => {
  const merchantId = await newMerchant();
  const payment = await world.pay({ merchantId });
  await eventually(() => expect(telegram.posted).toHaveLength(1));
  const delivered = await eventually(async () => {
    const delivery = await world.delivery(payment);
    expect(delivery.status).toBe('delivered');
    return delivery;
  });
  const again = [
    `update delivery set status = 'pending', delivered_at = null, next_attempt_at = now() where event_id = $1`,
  ];
  for (const statement of again) await world.pool.query(statement, [delivered.event_id]);
  await world.makeDue(delivered.event_id);
  await eventually(async () => expect((await world.delivery(payment)).attempts).toBe(delivered.attempts + 1));
  // What comes after it has been sent, so it would have been.
  await world.pay({ merchantId }, { expected_amount: '7' });
  await eventually(() => expect(mail.mails.map(({ raw }) => /Paid: \S+/.exec(raw)?.[0])).toContain('Paid: 7'));
  await eventually(() => expect(telegram.posted).toHaveLength(2));
  expect(mail.mails).toHaveLength(2);
});

test('what was accepted is told after the process was killed, and a channel without an answer does not hold the other', async () => {
  const merchantId = await newMerchant();
  telegram.state.reply = () => ({ status: 502 });
  const payment = await world.pay({ merchantId });
  await eventually(() => expect([mail.mails.length, telegram.posted.length]).toEqual([1, 1]));
  await eventually(async () => expect(await world.delivery(payment)).toMatchObject({ status: 'delivered' }));
  await notifier.kill();
  telegram.state.reply = () => ({ status: 200, body: { ok: true, result: {} } });
  const pool = testPool({ url: database.url, schema, max: 1 });
  await pool.query(`update notice set next_attempt_at = now() where state = 'waiting'`);
  await pool.end();
  notifier = await startNotifier();
  await eventually(() => expect(telegram.posted).toHaveLength(2));
  expect(mail.mails).toHaveLength(1);
});

test('a key that the merchant replaces through the API is followed', async () => {
  const merchantId = await newMerchant();
  const { body } = await world.call('POST', `/merchants/${merchantId}/webhook/rotate-key`);
  const payment = await world.pay({ merchantId });
  // The first attempt is refused; the retry has the key that this process asked for.
  await eventually(async () => expect(await world.delivery(payment)).toMatchObject({ status: 'delivered' }));
  await eventually(() => expect(telegram.posted).toHaveLength(1));
  const endpoint = await world.call('GET', `/merchants/${merchantId}/webhook`);
  expect(endpoint.body.key_id).not.toBe(body.key_id);
});

test('a merchant that has its own receiver by now keeps it, and its key', async () => {
  const merchantId = await newMerchant();
  await world.call('PUT', `/merchants/${merchantId}/webhook`, { url: 'https://shop.example/hook' });
  const { body } = await world.call('POST', `/merchants/${merchantId}/webhook/rotate-key`);
  const headers = { 'x-service-key-id': body.key_id };
  expect(await post(`/hooks/${merchantId}`, Buffer.from('{}'), headers)).toBe(400);
  expect((await world.call('GET', `/merchants/${merchantId}/webhook`)).body.key_id).toBe(body.key_id);
});

test('forged webhooks, those of another merchant, and other paths are refused and change nothing', async () => {
  const [merchantId, other] = [await newMerchant(), await newMerchant()];
  const event = { event_id: newId('evt'), payment_id: newId('pay'), status: 'PAID', expected_amount: '1' };
  const body = Buffer.from(
    JSON.stringify({ ...event, transaction_id: 'a', transaction_event_index: 0, description: 'x' }),
  );
  const { key_id: keyId } = (await world.call('GET', `/merchants/${merchantId}/webhook`)).body;
  const headers = (over: Record<string, string> = {}) => ({
    'X-Service-Timestamp': String(Math.floor(Date.now() / 1000)),
    'X-Service-Signature': `v1=${'0'.repeat(64)}`,
    'X-Service-Event-ID': event.event_id,
    'X-Service-Key-ID': keyId,
    ...over,
  });
  expect(await post(`/hooks/${merchantId}`, body, headers())).toBe(400);
  expect(await post(`/hooks/${merchantId}`, body, headers({ 'X-Service-Key-ID': newId('whk') }))).toBe(401);
  // Signed by another merchant's key.
  expect(await post(`/hooks/${other}`, body, headers())).toBe(401);
  expect(await post(`/hooks/${merchantId}`, body, headers({ 'X-Service-Timestamp': '1' }))).toBe(401);
  expect(await post(`/hooks/${merchantId}`, Buffer.alloc(100_000, 'x'), headers())).toBe(413);
  for (const path of ['/', `/hooks/${newId('mer')}`, '/metrics', '/readyz', `/hooks/${merchantId}/x`])
    expect(await post(path, body, headers())).toBe(404);
  expect((await world.call('GET', `/merchants/${merchantId}/webhook`)).body.key_id).toBe(keyId);
  await world.pay({ merchantId }, { expected_amount: '7' });
  await eventually(() => expect(telegram.posted).toHaveLength(1));
  expect(telegram.posted[0]!.body['text']).toMatch(/^Paid: 7 USDT/);
});

test('the merchant reads and changes its own settings, and no secret is shown', async () => {
  const merchantId = newId('mer');
  const headers = asPersonOf(merchantId);
  expect((await call(ReadNotices, merchantId, { headers })).status).toBe(404);
  const slack_url = 'https://hooks.slack.com/services/T/B/verysecret';
  const body = { ...choice, email: [], telegram_chat: null, slack_url, ...author };
  expect(await call(SetNotices, merchantId, { headers, body })).toMatchObject({ status: 403 });
  const set = (chosen: object) =>
    call(SetNotices, merchantId, { headers: asPersonOf(merchantId, { call: SetNotices, body: chosen }), body: chosen });
  const saved = await set(body);
  const expected = {
    ...{ language: 'en', email: [], telegram_chat: null, slack: true, available: ['email', 'telegram', 'slack'] },
    channels: [{ channel: 'slack', waiting: 0, failed_at: null, problem: null }],
  };
  expect(saved).toEqual({ status: 200, body: expected });
  expect(await call(ReadNotices, merchantId, { headers })).toEqual({ status: 200, body: expected });
  expect((await call(ReadNotices, newId('mer'), { headers })).status).toBe(404);
  const { rows } = await world.pool.query<{ action: string; actor: string; reason: string }>(
    'select action, actor, reason from audit where merchant_id = $1',
    [merchantId],
  );
  expect(rows).toEqual([{ action: 'endpoint_configured', actor: 'notifier', reason: '@merchant/anna: no backend' }]);
  const again = await set({ ...choice, ...author });
  expect(again.body).toMatchObject({ slack: true, email: choice.email });
  const wrong = { ...choice, email: ['x'], slack_url: 'https://10.0.0.1/x', ...author };
  const { status, body: refused } = await set(wrong);
  expect([status, refused.detail]).toEqual([
    422,
    expect.arrayContaining([expect.objectContaining({ field: 'email[0]' })]),
  ]);
  expect(notifier.log()).not.toMatch(/verysecret|AAbbCC/);
  expect(JSON.stringify((await everythingStored()).rows)).not.toContain('verysecret');
});

const everythingStored = async () => {
  const pool = testPool({ url: database.url, schema, max: 1 });
  const found = await pool.query(
    'select s::text, m::text from merchant m left join sealed_secret s using (merchant_id)',
  );
  await pool.end();
  return found;
};

test('a test notice goes to every channel, says what failed, and not twice a minute', async () => {
  const merchantId = await newMerchant();
  telegram.state.reply = () => ({ status: 403, body: { ok: false } });
  const tested = await call(SendTestNotice, merchantId, { body: author });
  expect(tested).toMatchObject({
    status: 200,
    body: {
      channels: [
        { channel: 'email', problem: null },
        { channel: 'telegram', problem: 'Telegram refused the chat with 403' },
      ],
    },
  });
  expect(mail.mails[0]!.raw).toContain('Subject: Test: your payment notices arrive here');
  expect((await call(SendTestNotice, merchantId, { body: author })).status).toBe(429);
  expect((await call(SendTestNotice, newId('mer'), { body: author })).status).toBe(404);
});

test('a test event of the webhook is told too, so that the whole way can be tried', async () => {
  const merchantId = await newMerchant();
  expect(await world.call('POST', `/merchants/${merchantId}/webhook/test`)).toMatchObject({
    body: { delivered: true },
  });
  await eventually(() => expect([mail.mails.length, telegram.posted.length]).toEqual([1, 1]));
});

test('nobody without a token, and no service, may change where notices go', async () => {
  const merchantId = newId('mer');
  const body = { ...choice, ...author };
  expect((await call(SetNotices, merchantId, { headers: {}, body })).status).toBe(401);
  const asPayments = createCallerHeaders('payments', trustOf('payments'))('notifier');
  expect((await call(SetNotices, merchantId, { headers: asPayments, body })).status).toBe(403);
});

test('its metrics are those of docs/telemetry.md', async () => {
  const text = await (await fetch(`${notifier.url}/metrics`)).text();
  const own = ({ name }: { name: string }) => name.startsWith('notices_');
  const documented = documentedMetrics().filter(own);
  expect(
    shownMetrics([{ service: 'notifier', text }])
      .filter(own)
      .sort(byName),
  ).toEqual(documented.sort(byName));
});

const byName = (one: { name: string }, other: { name: string }): number => (one.name < other.name ? -1 : 1);
