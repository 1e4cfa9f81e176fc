import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestedWebhook } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import type { DescribedEvent, OwnEvent } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import type { WebhookHealth } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { closedNames, outside } from './closed-names.ts';
import { startNameServer, type NameServer, type Zone } from './name-server.ts';
import { startTrap, type Trap } from './trap.ts';
import { startWorld, type World } from './world.ts';

const inside: Zone = { a: ['127.0.0.1'], aaaa: ['0:0:0:0:0:0:0:1'] };

/** Names that lead to no public address, or do not exist. */
const closed = Object.entries(closedNames)
  .filter(([, { zone }]) => typeof zone !== 'string' || zone === 'NXDOMAIN')
  .map(([name]) => name);

const zones: Record<string, Zone> = {
  ...Object.fromEntries(closed.map((name) => [name, closedNames[name]!.zone])),
  'hooks.io': outside,
  'public-alias.io': { cname: ['one.io', 'two.io'], a: ['8.8.8.8'] },
  'cut-public.io': { a: ['8.8.8.8'], truncated: true },
  'half-silent.io': { a: ['8.8.8.8'], silentFor: 'aaaa' },
  'inside.io': inside,
  'failing.io': 'SERVFAIL',
  'refused.io': 'REFUSED',
  'silent.io': 'silence',
};

let world: World;
let nameServer: NameServer;
let trap: Trap;
/** The real service, with the real resolver and connector; only its name server is ours. */
beforeAll(async () => {
  [world, nameServer, trap] = await Promise.all([startWorld(), startNameServer(zones), startTrap()]);
  await world.dispatcher().stop();
  await world.restart({ WEBHOOK_LOCAL_RECEIVER: '', WEBHOOK_NAME_SERVERS: nameServer.address });
});
afterAll(async () => {
  await world.stop();
  nameServer.close();
  await trap.close();
});

const put = (url: string, merchantId = newId('mer')) => world.call('PUT', `/merchants/${merchantId}/webhook`, { url });

/** On a busy machine a look-up may take longer than a PUT waits for it. */
const putUntilKnown = (url: string, merchantId = newId('mer')) =>
  world.callUntilServed('PUT', `/merchants/${merchantId}/webhook`, { url });

describe('PUT resolves the host name', () => {
  test.each(['hooks.io', 'public-alias.io', 'cut-public.io', 'half-silent.io'])('200 for %s', async (name) => {
    expect(await putUntilKnown(`https://${name}/`)).toMatchObject({ status: 200 });
  });

  test.each(['inside.io', ...closed])(
    '422 for %s, without telling whether it exists or where it leads',
    async (name) => {
      expect(await putUntilKnown(`https://${name}/`)).toEqual({
        status: 422,
        body: {
          detail: [{ field: 'url', reason: 'must have a host name that exists and leads to public addresses only' }],
          code: 'invalid_request',
        },
      });
    },
  );

  test.each(['failing.io', 'refused.io', 'silent.io'])('503 for %s, which cannot be resolved', async (name) => {
    const merchantId = newId('mer');
    expect(await put(`https://${name}/`, merchantId)).toEqual({
      status: 503,
      body: { detail: 'Service temporarily unavailable', code: 'unavailable' },
    });
    expect(await world.call('GET', `/merchants/${merchantId}/webhook`)).toMatchObject({ status: 404 });
  });

  test('422 for a private address, without a query', async () => {
    expect(await put('https://127.0.0.1/')).toMatchObject({ status: 422 });
  });
});

describe('an attempt resolves the name again', () => {
  const read = async <T>(method: string, path: string): Promise<T> => (await world.call(method, path)).body as T;

  /** Everything that a merchant reads says that the name could not be resolved; operators also read the reason. */
  async function untilTold(merchantId: string, paymentId: string, toOperators: string): Promise<void> {
    const ofMerchant = `/merchants/${merchantId}`;
    const { event, attempts, lane } = await read<DescribedEvent>('GET', `/payments/${paymentId}/event`);
    const categories = (records: { error_category: string | null }[]) => records.map((one) => one.error_category);
    expect(categories([event, ...attempts])).toEqual(Array<string>(4).fill(toOperators));
    expect(lane).toMatchObject({ error_category: toOperators });
    const failed = await read<WebhookHealth['failed']>('GET', `/events?status=failed&merchant_id=${merchantId}`);
    expect(categories(failed.events)).toEqual([toOperators]);
    const own = await read<OwnEvent>('GET', `${ofMerchant}/events/${event.event_id}`);
    expect(categories([own.event, ...own.attempts])).toEqual(Array<string>(4).fill('dns_error'));
    const health = await read<WebhookHealth>('GET', `${ofMerchant}/webhook/health`);
    expect(categories([...health.lanes.filter(({ events }) => events === 'paid'), ...health.failed.events])).toEqual([
      'dns_error',
      'dns_error',
    ]);
    const tested = await read<TestedWebhook>('POST', `${ofMerchant}/webhook/test`);
    expect(tested).toMatchObject({ delivered: false, error_category: 'dns_error' });
  }

  test.each<[string, Zone, string]>([
    ['leads inside', inside, 'blocked_address'],
    ['leads to a private network', { a: ['10.0.0.7'], ttl: 0 }, 'blocked_address'],
    ['leads to the metadata of a cloud', { a: ['169.254.169.254'], ttl: 0 }, 'blocked_address'],
    ['has a mapped address', { aaaa: ['0:0:0:0:0:ffff:7f00:1'], ttl: 0 }, 'blocked_address'],
    ['has one private address more', { a: ['8.8.8.8', '127.0.0.1'] }, 'blocked_address'],
    [
      'is another name for this machine',
      { cname: ['one.io', 'localhost'], a: ['127.0.0.1'], ttl: 0 },
      'blocked_address',
    ],
    ['is gone', 'NXDOMAIN', 'dns_error'],
    ['cannot be resolved', 'SERVFAIL', 'dns_error'],
  ])('a name that %s since the PUT is not dialled', async (_case, zone, errorCategory) => {
    const merchantId = newId('mer');
    const name = `${merchantId.slice(-12)}.io`;
    zones[name] = outside;
    expect(await putUntilKnown(`https://${name}/`, merchantId)).toMatchObject({ status: 200 });
    zones[name] = zone;
    const asked = nameServer.questions(name);
    const payment = await world.pay({ merchantId });
    await eventually(async () => {
      const delivery = await world.delivery(payment);
      expect(delivery).toMatchObject({ status: 'failed', attempts: 3, error_category: 'dns_error' });
    });
    await untilTold(merchantId, payment.payment_id, errorCategory);
    expect(nameServer.questions(name)).toBeGreaterThan(asked);
  });

  test('and nothing on this machine was connected to', () => {
    expect(trap.hits()).toBe(0);
  });
});
