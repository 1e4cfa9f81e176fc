import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WebhookAuditEntry } from '@quittance/contracts/http/audit.ts';
import type { TestedWebhook } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import type { DescribedEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { Lane } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { NoticeRaised } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { startNameServer } from './name-server.ts';
import { startWorld, type World } from './world.ts';

const owner = newId('mer');
const stranger = newId('mer');
const host = 'shop.internal';
const url = `https://${host}/hook`;
const address = '10.255.255.1:8443';
const targets = { WEBHOOK_PRIVATE_TARGETS: `${owner}@${host}=${address},${owner}@pay.shop.io=${address}` };

let world: World;
/** A failed attempt is repeated when a test wants it. The local receiver is also every private target's address. */
beforeAll(async () => {
  world = await startWorld({ retryDelaysSeconds: '600,600' });
  await restart(targets);
});
afterAll(() => world.stop());

async function restart(overrides: Record<string, string>): Promise<void> {
  await world.dispatcher().stop();
  await world.restart(overrides);
}

const put = (merchantId: string, to: string) => world.call('PUT', `/merchants/${merchantId}/webhook`, { url: to });
const read = async <T>(method: string, path: string): Promise<T> => (await world.call(method, path)).body as T;
const lanesOfOwner = async () => (await read<{ lanes: Lane[] }>('GET', `/lanes?merchant_id=${owner}`)).lanes;

describe('PUT webhook', () => {
  test('accepts a private host for its own merchant, and audits its address', async () => {
    const events = ['PAID', 'EXPIRED'];
    await world.call('PUT', `/merchants/${owner}/webhook`, { url: 'https://hooks.merchant.io/', events });
    expect(await put(owner, url)).toMatchObject({ status: 200, body: { url } });
    const { entries } = await read<{ entries: WebhookAuditEntry[] }>('GET', `/merchants/${owner}/audit`);
    expect(entries.map((entry) => [entry.action, entry.private_target])).toEqual([
      ['endpoint_changed', address],
      ['endpoint_configured', null],
    ]);
  });

  test.each([
    ['another merchant', stranger, url],
    ['another host', owner, 'https://www.shop.internal/hook'],
    ['another port', owner, 'https://shop.internal:8443/hook'],
    ['the address', owner, 'https://10.255.255.1/hook'],
    ['plain HTTP', owner, 'http://shop.internal/hook'],
  ])('refuses %s', async (_case, merchantId, to) => {
    expect(await put(merchantId, to)).toMatchObject({ status: 422, body: { detail: [{ field: 'url' }] } });
  });
});

describe('a merchant with a private target', () => {
  test('gets its test events and its events, and operators see their target', async () => {
    await eventually(async () => {
      const tested = await read<TestedWebhook>('POST', `/merchants/${owner}/webhook/test`);
      expect(tested).toMatchObject({ delivered: true, http_status: 200 });
    });
    const payment = await world.pay({ merchantId: owner });
    await eventually(async () => expect(await world.delivery(payment)).toMatchObject({ status: 'delivered' }));
    expect(new Set(world.receiver.received(host).map(({ path }) => path))).toEqual(new Set(['/hook']));
    const { lane } = await read<DescribedEvent>('GET', `/payments/${payment.payment_id}/event`);
    expect(lane).toMatchObject({ host, private_target: address });
  });

  test('also gets notices, which have their own lane', async () => {
    const before = world.receiver.received(host).length;
    await world.publish(NoticeRaised, {
      ...{ merchant_id: owner, event_type: 'payment.expired', payment_id: newId('pay'), expected_amount: '10.50' },
      ...{ description: 'Two coffees', transaction_id: null, transaction_event_index: null },
    });
    await eventually(() => expect(world.receiver.received(host)).toHaveLength(before + 1));
    const lanes = (await lanesOfOwner()).map((lane) => [lane.events, lane.host, lane.private_target]);
    expect(lanes.sort()).toEqual([
      ['notices', host, address],
      ['paid', host, address],
    ]);
  });

  test('is logged at every start', () => {
    const warnings = world.dispatcher().entries.filter(({ msg }) => msg.includes('private network'));
    expect(warnings).toMatchObject([host, 'pay.shop.io'].map((name) => ({ merchant_id: owner, host: name, address })));
  });

  test('loses no event while its entry is missing, and is sent none', async () => {
    await restart({});
    const before = world.receiver.received(host).length;
    const payment = await world.pay({ merchantId: owner });
    const refused = await eventually(async () => {
      const delivery = await world.delivery(payment);
      expect(delivery).toMatchObject({ status: 'pending', attempts: 1, error_category: 'dns_error' });
      return delivery;
    });
    const tested = await read<TestedWebhook>('POST', `/merchants/${owner}/webhook/test`);
    expect(tested).toMatchObject({ delivered: false, error_category: 'dns_error' });
    expect(await put(owner, url)).toMatchObject({ status: 422 });
    for (const lane of await lanesOfOwner()) expect(lane).toMatchObject({ host, private_target: null });
    expect(world.receiver.received(host)).toHaveLength(before);

    await restart(targets);
    await world.makeDue(refused.event_id);
    await eventually(async () => expect(await world.delivery(payment)).toMatchObject({ status: 'delivered' }));
    expect(world.receiver.received(host)).toHaveLength(before + 1);
  });
});

test('the name of a private target is not resolved when it is set', async () => {
  const nameServer = await startNameServer({ 'pay.shop.io': 'SERVFAIL' });
  try {
    await restart({ ...targets, WEBHOOK_LOCAL_RECEIVER: '', WEBHOOK_NAME_SERVERS: nameServer.address });
    expect(await put(owner, 'https://pay.shop.io/')).toMatchObject({ status: 200 });
    expect(nameServer.questions('pay.shop.io')).toBe(0);
    expect(await put(stranger, 'https://pay.shop.io/')).toMatchObject({ status: 503 });
    expect(nameServer.questions('pay.shop.io')).toBeGreaterThan(0);
  } finally {
    nameServer.close();
  }
});
