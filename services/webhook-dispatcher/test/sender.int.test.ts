import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { createConnector, openTls, type Dial } from '../src/sending/dial.ts';
import { SendError } from '../src/sending/errors.ts';
import { createSender, type AttemptResult, type Sender } from '../src/sending/sender.ts';
import { createAuthority, type Authority } from './certificates.ts';
import { startReceiver, status, type Answer, type Receiver } from './receiver.ts';

/** For a whole attempt of the sender with short limits; the real one is longer. */
const HASTY_MS = 1_500;
const body = Buffer.from('{"event_id":"evt_1","description":"café"}');

let authority: Authority;
let receiver: Receiver;
let sender: Sender;
/** For receivers that do not answer. */
let hasty: Sender;
/** Where the next connections really go, and how many went. */
let port: number;
let dials = 0;
let addresses: string[] = ['8.8.8.8'];

const dial: Dial = ({ host, timeoutMs }) => {
  dials += 1;
  return openTls({ address: '127.0.0.1', port, host, timeoutMs });
};

beforeAll(async () => {
  authority = await createAuthority();
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority.certificate]);
  receiver = await startReceiver(authority);
  port = receiver.port;
  const connector = createConnector({ resolve: async () => addresses, dial });
  const common = { connector, clock: () => new Date() };
  sender = createSender(common);
  hasty = createSender({ ...common, timeoutMs: HASTY_MS });
});
afterAll(async () => {
  await Promise.all([sender.close(), hasty.close()]);
  await receiver.close();
});

let hosts = 0;
/** Sends one event, by default to a new host. */
async function attempt(to: { answers?: Answer[]; host?: string; url?: string; by?: Sender } = {}) {
  const host = to.host ?? `host${(hosts += 1)}.io`;
  receiver.answer(host, ...(to.answers ?? []));
  const url = to.url ?? `https://${host}/`;
  const event = { eventId: 'evt_1', merchantId: 'mer_1', url, keyId: 'whk_1', secret: 'whsec_1', body };
  return { host, result: await (to.by ?? sender).send(event) };
}

/** Points the dialler at another server for one attempt. */
async function against(server: { port: number; close: () => void }): Promise<AttemptResult> {
  port = server.port;
  try {
    return (await attempt()).result;
  } finally {
    port = receiver.port;
    server.close();
  }
}

async function tcpServer(onConnection: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

describe('the answer of a receiver', () => {
  test('is a success with any 2xx, and the bytes were sent exactly as stored', async () => {
    for (const code of [200, 201, 204, 299]) {
      const { host, result } = await attempt({ answers: [status(code)] });
      expect(result).toMatchObject({ errorCategory: null, httpStatus: code, remoteAddress: '127.0.0.1' });
      const [request] = receiver.received(host);
      expect(request!.body.equals(body)).toBe(true);
      const names = request!.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
      expect(names.toSorted()).toEqual(
        'connection content-length content-type host user-agent x-service-event-id x-service-key-id x-service-signature x-service-timestamp'.split(
          ' ',
        ),
      );
    }
  });

  test.each([
    [301, 'redirect'],
    [308, 'redirect'],
    [410, 'http_4xx'],
    [502, 'http_5xx'],
  ])('with status %p is %s, after one POST', async (code, errorCategory) => {
    const { host, result } = await attempt({ answers: [status(code, { location: 'https://elsewhere.io/' })] });
    expect(result).toMatchObject({ errorCategory, httpStatus: code });
    expect(receiver.received(host)).toHaveLength(1);
    expect(receiver.connections('elsewhere.io')).toBe(0);
  });

  test('may have a Retry-After header, which is read', async () => {
    const { result } = await attempt({ answers: [status(503, { 'retry-after': '120' })] });
    expect(result.retryAfterSeconds).toBe(120);
  });

  test('is not read to its end if the body is longer than 64 KiB', async () => {
    let closedEarly = false;
    const endless: Answer = (response) => {
      response.writeHead(200);
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384)));
      };
      response.on('drain', write).on('close', () => (closedEarly = !response.writableFinished));
      write();
    };
    // With enough time that only the length can end it.
    const connector = createConnector({ resolve: async () => addresses, dial });
    const patient = createSender({
      connector,
      clock: () => new Date(),
      timeoutMs: 60_000,
      bodyTimeoutMs: 60_000,
    });
    const announced: Answer = (response) => {
      response.writeHead(200, { 'content-length': 65_537 }).flushHeaders();
    };
    for (const answer of [endless, announced]) {
      const { result } = await attempt({ answers: [answer], by: patient });
      expect(result).toMatchObject({ errorCategory: null, httpStatus: 200 });
    }
    await patient.close();
    await eventually(() => expect(closedEarly).toBe(true));
  });
});

describe('a receiver that does not answer', () => {
  test('in time causes a response timeout', async () => {
    // Connects first, because that may take a busy machine longer than the attempt's time limit.
    const { host } = await eventually(async () => {
      const connected = await attempt({ by: hasty });
      expect(connected.result).toMatchObject({ httpStatus: 200 });
      return connected;
    });
    const { result } = await attempt({ host, by: hasty, answers: [() => undefined] });
    expect(result).toMatchObject({ errorCategory: 'response_timeout', httpStatus: null });
  });

  test('but closes the connection causes a reset after exactly one POST, even on a reused connection', async () => {
    const host = 'closing.io';
    receiver.answer(host, status(200), (response) => void response.socket?.destroy());
    const connector = createConnector({ resolve: async () => addresses, dial });
    const single = createSender({ connector, clock: () => new Date() });
    const event = {
      eventId: 'evt_1',
      merchantId: 'mer_1',
      url: `https://${host}/`,
      keyId: 'whk_1',
      secret: 'whsec_1',
      body,
    };
    expect((await single.send(event)).errorCategory).toBeNull();
    expect((await single.send(event)).errorCategory).toBe('connection_reset');
    await single.close();
    expect(receiver.received(host)).toHaveLength(2);
    expect(receiver.connections(host)).toBe(1);
  });

  test('in HTTP causes a protocol error', async () => {
    const { result } = await attempt({ answers: [(response) => void response.socket?.end('SMTP 220 ready\r\n\r\n')] });
    expect(result.errorCategory).toBe('protocol_error');
  });
});

describe('TLS', () => {
  test.each(['expired.host.io', 'wrong.host.io', 'self-signed.host.io'])(
    'a certificate that is not valid for %s is a TLS error',
    async (host) => {
      const { result } = await attempt({ host });
      expect(result.errorCategory).toBe('tls_error');
      expect(receiver.received(host)).toHaveLength(0);
    },
  );

  test('a certificate of an unknown authority is a TLS error, for any setting of the environment', async () => {
    const stranger = await startReceiver(await createAuthority());
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      expect((await against({ port: stranger.port, close: () => void stranger.close() })).errorCategory).toBe(
        'tls_error',
      );
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });

  test('a server that supports nothing newer than TLS 1.1 is a TLS error', async () => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    const server = createHttpsServer({ ...(await authority.certify(`host${hosts + 1}.io`)), ...old }, (_, response) => {
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port: tlsPort } = server.address() as AddressInfo;
    expect((await against({ port: tlsPort, close: () => void server.close() })).errorCategory).toBe('tls_error');
  });

  test('a server that speaks another protocol is a TLS error', async () => {
    const server = await tcpServer((socket) => socket.end('220 smtp ready\r\n'));
    expect((await against(server)).errorCategory).toBe('tls_error');
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'a server that requires a client certificate, in %s, is a TLS error',
    async (version) => {
      const keyPair = await authority.certify('*.io');
      const server = tls.createServer({
        ...keyPair,
        requestCert: true,
        rejectUnauthorized: true,
        minVersion: version,
        maxVersion: version,
      });
      server.on('tlsClientError', () => undefined);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port: tlsPort } = server.address() as AddressInfo;
      const { errorCategory } = await against({ port: tlsPort, close: () => void server.close() });
      expect(errorCategory).toBe('tls_error');
    },
  );

  test('a server that accepts and then sends nothing times out while connecting', async () => {
    const silent = await tcpServer(() => undefined);
    const connector = createConnector({
      resolve: async () => ['8.8.8.8'],
      dial: ({ host, timeoutMs }) => openTls({ address: '127.0.0.1', port: silent.port, host, timeoutMs }),
      connectTimeoutMs: 200,
    });
    const impatient = createSender({ connector, clock: () => new Date() });
    expect((await attempt({ by: impatient })).result.errorCategory).toBe('connect_timeout');
    await impatient.close();
    silent.close();
  });

  test('the first six addresses of a name together get five seconds', async () => {
    const given: number[] = [];
    const connector = createConnector({
      resolve: async () => Array.from({ length: 20 }, (_, n) => `8.8.8.${n}`),
      dial: ({ timeoutMs }) => {
        given.push(timeoutMs);
        return Promise.reject(new SendError('connect_refused', 'nobody there'));
      },
    });
    const other = createSender({ connector, clock: () => new Date() });
    expect((await attempt({ by: other })).result.errorCategory).toBe('connect_refused');
    await other.close();
    expect(given).toHaveLength(6);
    expect(Math.max(...given)).toBeLessThanOrEqual(5_000);
  });

  test('an address without a route is unreachable', async () => {
    // The broadcast address takes no TCP connection on any machine.
    const connector = createConnector({
      resolve: async () => ['8.8.8.8'],
      dial: ({ host, timeoutMs }) => openTls({ address: '255.255.255.255', port: 443, host, timeoutMs }),
    });
    const lost = createSender({ connector, clock: () => new Date() });
    expect((await attempt({ by: lost })).result.errorCategory).toBe('network_unreachable');
    await lost.close();
  });

  test('a closed sender interrupts the attempt, which does not count', async () => {
    const closed = createSender({
      connector: createConnector({ resolve: async () => addresses, dial }),
      clock: () => new Date(),
    });
    await closed.close();
    expect((await attempt({ by: closed })).result.errorCategory).toBe('interrupted');
  });

  test('a port without a listener refuses the connection', async () => {
    const server = await tcpServer(() => undefined);
    server.close();
    expect((await against(server)).errorCategory).toBe('connect_refused');
  });
});

describe('a connection', () => {
  test.each([[['127.0.0.1']], [['8.8.8.8', '10.0.0.1']], [['::ffff:8.8.8.8']], [['fd00::1']]])(
    'is not attempted to a name that resolves to %j',
    async (answer) => {
      const before = dials;
      addresses = answer;
      try {
        const { host, result } = await attempt();
        expect(result).toMatchObject({ errorCategory: 'blocked_address', remoteAddress: null });
        expect([dials - before, receiver.connections(host)]).toEqual([0, 0]);
      } finally {
        addresses = ['8.8.8.8'];
      }
    },
  );

  test.each([
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://169.254.169.254/latest',
    'http://host.io/',
    'https://host.io:8443/',
  ])('is not attempted to the stored URL %s', async (url) => {
    const before = dials;
    const { result } = await attempt({ url });
    expect(result.errorCategory).toBe('blocked_address');
    expect(dials - before).toBe(0);
  });

  test('is not attempted to a name that has become private', async () => {
    const host = 'rebinding.io';
    const { result } = await attempt({ host, answers: [status(200, { connection: 'close' })] });
    expect(result.errorCategory).toBeNull();
    addresses = ['127.0.0.1'];
    try {
      expect((await attempt({ host })).result.errorCategory).toBe('blocked_address');
    } finally {
      addresses = ['8.8.8.8'];
    }
    expect(receiver.connections(host)).toBe(1);
  });

  test('is attempted to each of several public addresses', async () => {
    const tried: string[] = [];
    const connector = createConnector({
      resolve: async () => ['8.8.8.8', '8.8.4.4'],
      dial: async (target) => {
        tried.push(target.address);
        if (target.address === '8.8.8.8') throw new Error('unreachable');
        return dial(target);
      },
    });
    const other = createSender({ connector, clock: () => new Date() });
    const sent = {
      eventId: 'evt_1',
      merchantId: 'mer_1',
      url: 'https://several.io/',
      keyId: 'whk_1',
      secret: 'whsec_1',
      body,
    };
    expect((await other.send(sent)).errorCategory).toBeNull();
    expect(tried).toEqual(['8.8.8.8', '8.8.4.4']);
    await other.close();
  });

  test('ignores a proxy setting of the environment', async () => {
    const proxy = await tcpServer(() => {
      throw new Error('the proxy was used');
    });
    Object.assign(process.env, { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NODE_USE_ENV_PROXY: '1' });
    try {
      expect((await attempt()).result.errorCategory).toBeNull();
    } finally {
      delete process.env.HTTPS_PROXY;
      delete process.env.NODE_USE_ENV_PROXY;
      proxy.close();
    }
  });
});
