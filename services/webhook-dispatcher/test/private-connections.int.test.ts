import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createConnector, createPrivateConnector, dialPrivate, openTls, type Dial } from '../src/sending/dial.ts';
import type { PrivateTarget } from '../src/sending/private-targets.ts';
import { systemResolve } from '../src/sending/resolve.ts';
import { createSender, type AttemptResult, type Sender } from '../src/sending/sender.ts';
import { createAuthority, type Authority } from './certificates.ts';
import { startNameServer, type NameServer, type Zone } from './name-server.ts';
import { startReceiver, status, type Receiver } from './receiver.ts';
import { startTrap, type Trap } from './trap.ts';

/** The shop's address. The settings would refuse it; to a connection it is like any other address. */
const inside = '127.0.0.2';
const owner = 'mer_owner';
const stranger = 'mer_stranger';
/** A name of the private network, and one that others may have in their URLs too. */
const hosts = ['shop.internal', 'pay.shop.io'];

/** Everybody trusts the first authority, and only the operator of these targets the second. */
let authority: Authority;
let ownAuthority: Authority;
let zones: Record<string, Zone>;
let nameServer: NameServer;
let shop: Receiver;
/** The owner of the public names. */
let elsewhere: Receiver;
let trap: Trap;
let sender: Sender;

beforeAll(async () => {
  [authority, ownAuthority] = await Promise.all([createAuthority(), createAuthority()]);
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority.certificate]);
  zones = {};
  [nameServer, shop, elsewhere, trap] = await Promise.all([
    startNameServer(zones),
    startReceiver(ownAuthority, inside),
    startReceiver(authority),
    startTrap(),
  ]);
  sender = senderTo(hosts.map((host) => ({ merchantId: owner, host, address: inside, port: shop.port })));
});
afterAll(async () => {
  nameServer.close();
  await Promise.all([sender.close(), shop.close(), elsewhere.close(), trap.close()]);
});

/** The real resolver and the real connector to private targets; the public address is `elsewhere`. */
function senderTo(targets: readonly PrivateTarget[], ca: string | null = ownAuthority.certificate): Sender {
  const dial: Dial = (target) => openTls({ ...target, address: '127.0.0.1', port: elsewhere.port });
  const toPrivate = dialPrivate(ca);
  return createSender({
    connector: createConnector({ resolve: systemResolve({ servers: [nameServer.address] }), dial }),
    privateTargets: targets.map((target) => ({ ...target, connector: createPrivateConnector(target, toPrivate) })),
    clock: () => new Date(),
  });
}

const send = (merchantId: string, url: string, by = sender): Promise<AttemptResult> =>
  by.send({ eventId: 'evt_1', merchantId, url, keyId: 'whk_1', secret: 'whsec_1', body: Buffer.from('{}') });

/** Sends the owner's event to a target of this name with a new sender. */
async function sendOnce(
  target: { host: string; address?: string; port?: number },
  ca?: string | null,
): Promise<AttemptResult> {
  const single = senderTo([{ merchantId: owner, address: inside, port: shop.port, ...target }], ca);
  try {
    return await send(owner, `https://${target.host}/`, single);
  } finally {
    await single.close();
  }
}

const reached = () => hosts.map((host) => shop.received(host).length);

describe('the merchant of a private target', () => {
  test.each(hosts)('reaches %s at its address and port, without a name query', async (host) => {
    expect(await send(owner, `https://${host}/pay`)).toMatchObject({ errorCategory: null, remoteAddress: inside });
    expect(shop.received(host)).toMatchObject([{ host, path: '/pay' }]);
    expect(nameServer.questions(host)).toBe(0);
  });

  test('reaches it there for any address of the name, at every attempt over a new connection', async () => {
    const host = 'pay.shop.io';
    const before = shop.connections(host);
    shop.answer(host, ...Array.from({ length: 4 }, () => status(200, { connection: 'close' })), status(200));
    const leads: Zone[] = [{ a: ['8.8.8.8'], ttl: 0 }, { a: ['127.0.0.1'], ttl: 0 }, { a: ['127.0.0.3', inside] }];
    for (const zone of leads) {
      zones[host] = zone;
      const hits = trap.hits();
      expect(await send(owner, `https://${host}/`)).toMatchObject({ errorCategory: null, remoteAddress: inside });
      expect(trap.hits()).toBe(hits);
    }
    expect(shop.connections(host)).toBeGreaterThanOrEqual(before + leads.length - 1);
    expect([nameServer.questions(host), elsewhere.received(host)]).toEqual([0, []]);
  });

  test.each([
    ...['https://www.shop.internal/', 'https://internal/', 'https://shop.internal./', 'https://shop.local/'],
    // Another port, also the dialled one; another scheme; the address itself.
    ...['https://shop.internal:8443/', 'https://shop.internal:{port}/', 'http://shop.internal/', 'https://{address}/'],
    ...['https://{address}:{port}/', 'https://shop.internal@{address}/', 'https://shop.internal@evil.internal/'],
    ...['https://shop.internal%2eevil/', 'https://shop.internal#@evil.internal/', 'https://shop.internal\\.evil/'],
  ])('reaches nothing private at %s', async (pattern) => {
    const url = pattern.replace('{address}', inside).replace('{port}', String(shop.port));
    const [before, hits] = [reached(), trap.hits()];
    expect(await send(owner, url)).toMatchObject({ errorCategory: 'blocked_address', remoteAddress: null });
    expect([reached(), trap.hits()]).toEqual([before, hits]);
  });

  test('is not led to another address by a redirect', async () => {
    const [from, to] = hosts;
    shop.answer(from!, status(307, { location: `https://${to}/` }), status(302, { location: 'https://127.0.0.1/' }));
    const [before, hits] = [reached(), trap.hits()];
    for (const httpStatus of [307, 302]) {
      expect(await send(owner, `https://${from}/`)).toMatchObject({ errorCategory: 'redirect', httpStatus });
    }
    expect([reached(), trap.hits()]).toEqual([[before[0]! + 2, before[1]], hits]);
  });
});

describe('another merchant', () => {
  test('does not reach it by a name of the private network', async () => {
    await send(owner, 'https://shop.internal/');
    const before = reached();
    for (const whose of [stranger, '', `${owner}:notices`, owner.toUpperCase()]) {
      expect(await send(whose, 'https://shop.internal/')).toMatchObject({ errorCategory: 'blocked_address' });
    }
    expect([reached(), nameServer.questions('shop.internal')]).toEqual([before, 0]);
  });

  test('reaches the public address of the same name, over its own connections', async () => {
    const host = 'pay.shop.io';
    shop.answer(host, status(200));
    zones[host] = { a: ['8.8.8.8'] };
    await send(owner, `https://${host}/`);
    const before = [shop.connections(host), reached()[1]];
    // Both connections are open from the second round on, and each merchant only uses its own.
    for (let round = 1; round <= 3; round += 1) {
      expect(await send(stranger, `https://${host}/`)).toMatchObject({
        errorCategory: null,
        remoteAddress: '127.0.0.1',
      });
      expect(await send(owner, `https://${host}/`)).toMatchObject({ errorCategory: null, remoteAddress: inside });
      expect(elsewhere.received(host)).toHaveLength(round);
    }
    expect([shop.connections(host), reached()[1]]).toEqual([before[0], before[1]! + 3]);
    expect(elsewhere.connections(host)).toBe(1);
  });

  test('reaches nothing by a name that leads to the same private address', async () => {
    zones['rebound.io'] = { a: [inside] };
    const before = reached();
    for (const whose of [stranger, owner]) {
      expect(await send(whose, 'https://rebound.io/')).toMatchObject({ errorCategory: 'blocked_address' });
    }
    expect(reached()).toEqual(before);
  });
});

describe('the receiver there', () => {
  test.each(['wrong.shop.internal', 'expired.shop.internal', 'self-signed.shop.internal'])(
    'must have a valid certificate for the name: %s',
    async (host) => {
      expect(await sendOnce({ host })).toMatchObject({ errorCategory: 'tls_error', httpStatus: null });
      expect(shop.received(host)).toEqual([]);
    },
  );

  test("must have it from the operator's authority, and from no other", async () => {
    const ofOther = { host: 'other-ca.internal', address: '127.0.0.1', port: elsewhere.port };
    const ofOwn = { host: 'own-ca.internal' };
    expect(await sendOnce(ofOther)).toMatchObject({ errorCategory: 'tls_error' });
    expect(await sendOnce(ofOwn)).toMatchObject({ errorCategory: null });
    // Without a name, from an authority that everybody trusts.
    expect(await sendOnce(ofOwn, null)).toMatchObject({ errorCategory: 'tls_error' });
    expect(await sendOnce(ofOther, null)).toMatchObject({ errorCategory: null });
    expect(elsewhere.received(ofOther.host)).toHaveLength(1);
    expect(shop.received(ofOwn.host)).toHaveLength(1);
  });

  test('must be at the dialled address: a connection to a different one is dropped without sending anything', async () => {
    const host = 'moved.internal';
    // As a route or a rewriting firewall could cause; here the system's own rule that this is the loopback address.
    const moved = { host, address: '0.0.0.0', port: elsewhere.port };
    expect(await sendOnce(moved, authority.certificate)).toMatchObject({ errorCategory: 'blocked_address' });
    expect(elsewhere.received(host)).toEqual([]);
  });
});
