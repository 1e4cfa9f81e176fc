import { createServer } from 'node:https';
import { connect } from 'node:net';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseEndpointUrl } from '@quittance/contracts/endpoint-url.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { createConnections } from '../src/sending/connections.ts';
import { createConnector, dialPublic, openTls, type Dial } from '../src/sending/dial.ts';
import { exchange } from '../src/sending/exchange.ts';
import { createSender, type AttemptResult, type Sender } from '../src/sending/sender.ts';
import { createAuthority, type Authority } from './certificates.ts';
import { closedNames, outside, ownAddress, publicAddress } from './closed-names.ts';
import { hostileUrls } from './hostile-urls.ts';
import { startNameServer, type NameServer, type Zone } from './name-server.ts';
import { startReceiver, status, type Receiver } from './receiver.ts';
import { startTrap, type Trap } from './trap.ts';
import { urlTable } from './url-table.ts';
import { watchedSender, type Dialled } from './watched-sender.ts';

let authority: Authority;
let zones: Record<string, Zone>;
let nameServer: NameServer;
let receiver: Receiver;
let trap: Trap;
let sender: Sender;
const dialled: Dialled[] = [];

beforeAll(async () => {
  authority = await createAuthority();
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority.certificate]);
  zones = Object.fromEntries(Object.entries(closedNames).map(([name, { zone }]) => [name, zone]));
  [nameServer, receiver, trap] = await Promise.all([startNameServer(zones), startReceiver(authority), startTrap()]);
  sender = senderTo();
});
afterAll(async () => {
  nameServer.close();
  await Promise.all([sender.close(), receiver.close(), trap.close()]);
});

const senderTo = (): Sender => watchedSender({ nameServer, receiver, trap, dialled });

const send = (url: string, by = sender): Promise<AttemptResult> =>
  by.send({ eventId: 'evt_1', merchantId: 'mer_1', url, keyId: 'whk_1', secret: 'whsec_1', body: Buffer.from('{}') });

describe('a name is only dialled if all its addresses are public', () => {
  test('the trap catches connections on every address of this machine', async () => {
    for (const host of [ownAddress, '127.77.7.7', '::1', '::ffff:127.0.0.1', '0.0.0.0']) {
      const before = trap.hits();
      const socket = connect({ host, port: trap.port });
      await eventually(() => expect(trap.hits()).toBe(before + 1));
      socket.destroy();
    }
    // The real dialler would connect too, without the rules before it.
    const before = trap.hits();
    await expect(dialPublic(trap.port)({ address: ownAddress, host: 'a.io', timeoutMs: 30_000 })).rejects.toThrow();
    expect(trap.hits()).toBe(before + 1);
  });

  test.each(Object.entries(closedNames))('%s is not dialled', async (name, { category }) => {
    const [hits, dials] = [trap.hits(), dialled.length];
    const result = await send(`https://${name}/`);
    expect(result).toMatchObject({ errorCategory: category, httpStatus: null, remoteAddress: null });
    expect(nameServer.questions(name)).toBeGreaterThan(0);
    expect([trap.hits(), dialled.length]).toEqual([hits, dials]);
  });

  test('an alias with public addresses is dialled, and a name whose answer is too long for UDP', async () => {
    zones['good-alias.io'] = { cname: ['one.io', 'two.io'], ...outside };
    zones['good-cut.io'] = { ...outside, truncated: true };
    for (const name of ['good-alias.io', 'good-cut.io']) {
      expect(await send(`https://${name}/`)).toMatchObject({ errorCategory: null });
    }
  });

  test('a name whose server answers for one address family only is dialled at that answer', async () => {
    zones['no-six.io'] = { ...outside, silentFor: 'aaaa' };
    zones['no-four.io'] = { aaaa: ['0:0:0:0:0:0:0:1'], silentFor: 'a' };
    expect(await send('https://no-six.io/')).toMatchObject({ errorCategory: null });
    // It waits for the missing family until a second is left, which a busy machine may need for the rest.
    await eventually(async () =>
      expect(await send('https://no-four.io/')).toMatchObject({ errorCategory: 'blocked_address' }),
    );
  });
});

describe('a name that changes', () => {
  test('between two attempts is resolved again, for any TTL', async () => {
    for (const ttl of [0, 3_600]) {
      const name = `rebound-${ttl}.io`;
      zones[name] = { ...outside, ttl };
      receiver.answer(name, status(200, { connection: 'close' }));
      expect(await send(`https://${name}/`)).toMatchObject({ errorCategory: null });
      zones[name] = { a: [ownAddress], ttl };
      const hits = trap.hits();
      expect(await send(`https://${name}/`)).toMatchObject({ errorCategory: 'blocked_address' });
      expect(trap.hits()).toBe(hits);
    }
  });

  test("between two attempts over a kept connection reaches the connection's address, and nothing after it is closed", async () => {
    const name = 'kept.io';
    zones[name] = { ...outside, ttl: 0 };
    receiver.answer(name, status(200), status(200), status(200, { connection: 'close' }), status(200));
    expect(await send(`https://${name}/`)).toMatchObject({ errorCategory: null });
    zones[name] = { a: [ownAddress], ttl: 0 };
    const hits = trap.hits();
    for (let n = 0; n < 2; n += 1) {
      expect(await send(`https://${name}/`)).toMatchObject({ errorCategory: null });
    }
    expect(receiver.connections(name)).toBe(1);
    expect(await send(`https://${name}/`)).toMatchObject({ errorCategory: 'blocked_address' });
    expect([trap.hits(), receiver.received(name).length]).toEqual([hits, 3]);
  });

  test('between the query and dialling has no effect: exactly the checked addresses are dialled', async () => {
    const name = 'racing.io';
    zones[name] = { ...outside, ttl: 0 };
    const before = nameServer.questions(name);
    expect(await send(`https://${name}/`)).toMatchObject({ errorCategory: null });
    // Once per address family, and never by the connection itself.
    expect(nameServer.questions(name) - before).toBe(2);
    expect(dialled.at(-1)).toMatchObject({ host: name, address: publicAddress });
  });
});

describe('the address of a connection is checked again', () => {
  test('a connection to an address that is not public is dropped without sending anything', async () => {
    const local = await startReceiver(authority);
    try {
      const dial = dialPublic(local.port);
      // As a route or a rewriting firewall could cause.
      await expect(dial({ address: ownAddress, host: 'a.io', timeoutMs: 5_000 })).rejects.toMatchObject({
        category: 'blocked_address',
      });
      expect(local.received('a.io')).toEqual([]);
    } finally {
      await local.close();
    }
  });
});

describe('a stored URL', () => {
  const refused = [...urlTable('reject'), ...hostileUrls];

  test('that the policy refuses is not dialled, and not even resolved', async () => {
    expect(refused.length).toBeGreaterThan(200);
    const [hits, dials] = [trap.hits(), dialled.length];
    for (const url of refused) expect([url, (await send(url)).errorCategory]).toEqual([url, 'blocked_address']);
    expect([trap.hits(), dialled.length]).toEqual([hits, dials]);
  });

  test('that the policy accepts is dialled at its host', async () => {
    for (const url of urlTable('accept')) {
      const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
      zones[host] = outside;
      const before = dialled.length;
      const single = senderTo();
      await send(url, single);
      await single.close();
      expect(dialled.slice(before)).toMatchObject([{ host }]);
    }
  });

  test('leads to the host that the policy checked, and to no other', async () => {
    const reached: string[] = [];
    const connections = createConnections({
      connector: (host) => {
        reached.push(host);
        return Promise.reject(new Error('far enough'));
      },
    });
    const oddPart = fc.constantFrom(
      ...'.:/?#[]@%\\&=;,+~!$\'()*\t\n\r\0 "<>^`{|}-_aZ09'.split(''),
      ...'。．｡％＠：／？＃［］０１２𝟏①ａöß\u00ad\u200b\u202e\u2028\ufeff\ud800'.split(''),
      ...[
        'https://',
        'http://',
        '//',
        '%2e',
        '%2f',
        '%40',
        '%00',
        '%5c',
        '..',
        '0x7f',
        '0177',
        '127.1',
        '[::1]',
        '::ffff:',
      ],
      ...[
        'localhost',
        '.local',
        '.internal',
        'xn--',
        'xn--a',
        '443',
        ':443',
        ':0443',
        '127.0.0.1',
        '2130706433',
        'evil.io',
      ],
    );
    const start = fc.constantFrom('https://', 'https://', 'HTTPS://', 'hTtPs://', 'https:/');
    const host = fc.constantFrom(
      'a.io',
      'hooks.merchant.io',
      '8.8.8.8',
      '[2001:4860:4860::8888]',
      'a.io:443',
      'xn--bcher-kva.example',
    );
    const glue = fc.constantFrom('/', '/', '?', '', '.');
    const mixed = fc.tuple(start, fc.array(oddPart, { maxLength: 1 }), host, glue, fc.array(oddPart, { maxLength: 4 }));
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(mixed, async ([scheme, before, name, between, after]) => {
        const text = [scheme, ...before, name, between, ...after].join('');
        const check = parseEndpointUrl(text);
        if (!check.ok) return;
        accepted += 1;
        const { endpoint } = check;
        const url = new URL(text);
        expect([url.protocol, url.port, url.username, url.password, url.hash]).toEqual(['https:', '', '', '', '']);
        expect(url.hostname.replace(/^\[|\]$/g, '')).toBe(endpoint.host);
        // It is written into the request line as it is.
        expect(endpoint.path).toMatch(/^\/[\x21-\x7e]*$/);
        const request = { host: endpoint.host, path: endpoint.path, headers: {}, body: Buffer.from('{}') };
        await exchange(connections, request, { timeoutMs: 60_000, bodyTimeoutMs: 60_000 });
        expect(reached.splice(0)).toEqual([endpoint.host]);
      }),
      { numRuns: 5_000 },
    );
    expect(accepted).toBeGreaterThan(300);
    await connections.close();
  });
});

describe('a receiver without a name', () => {
  test('gets its address in the Host header and no server name, and must have a certificate for the address', async () => {
    const hosts: (string | undefined)[] = [];
    const names: unknown[] = [];
    for (const { host, certified, category } of [
      { host: '8.8.8.8', certified: '8.8.8.8', category: null },
      { host: '[2001:4860:4860::8888]', certified: '2001:4860:4860::8888', category: null },
      { host: '8.8.8.8', certified: '8.8.4.4', category: 'tls_error' },
      { host: '8.8.8.8', certified: 'dns.google', category: 'tls_error' },
    ]) {
      const server = createServer(await authority.certify(certified), (request, response) => {
        hosts.push(request.headers.host);
        names.push((request.socket as { servername?: unknown }).servername);
        response.end();
      });
      await new Promise<void>((resolve) => server.listen(0, ownAddress, resolve));
      const { port } = server.address() as { port: number };
      const dial: Dial = (target) => openTls({ ...target, address: ownAddress, port });
      const connector = createConnector({ resolve: () => Promise.reject(new Error('nobody asks')), dial });
      const single = createSender({ connector, clock: () => new Date() });
      expect(await send(`https://${host}/`, single)).toMatchObject({ errorCategory: category });
      await single.close();
      server.closeAllConnections();
      server.close();
    }
    expect(hosts).toEqual(['8.8.8.8', '[2001:4860:4860::8888]']);
    expect(names).toEqual([false, false]);
  });
});
