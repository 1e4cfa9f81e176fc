import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { clientAddress, hold } from '../support/bursts.ts';
import { send, type HttpAnswer } from '../support/http.ts';
import { openMerchant, type Merchant } from '../support/merchant.ts';
import type { Attack, Check } from './attack.ts';
import { ask, askAs } from './support/ask.ts';
import { flood } from './support/flood.ts';

const READ = '/api/v1/merchant/limits';
/** What the contract allows of a body, in bytes. */
const BODY_MAX = 65_536;
const ACTIVE_MAX = 30;

export const attack: Attack = {
  name: 'floods',
  about:
    'bodies and headers that are too large, too deep or too slow, and more requests and connections than are promised to one address',
  async checks({ stack }) {
    const merchant = await openMerchant(stack);
    return [...sizes(merchant), ...slow(stack), ...connections(stack), ...rates(stack), alive(stack, merchant)];
  },
};

function sizes(merchant: Merchant): Check[] {
  const post = (body: string | Buffer, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
    askAs(merchant, 'POST', '/api/v1/payments', {
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'a-flood', ...headers },
      body,
    });
  const padded = (bytes: number) => `{"amount":"1"${' '.repeat(bytes - 14)}}`;
  return [
    {
      name: 'a body of more than 64 KiB is 413, declared, in chunks, or compressed, and one of 64 KiB is read',
      async run(trial) {
        trial.same('64 KiB', (await post(padded(BODY_MAX))).status, 422);
        trial.same('a byte more', (await post(padded(BODY_MAX + 1))).status, 413);
        const chunked = { 'Transfer-Encoding': 'chunked' };
        trial.same('64 KiB in chunks', (await post(padded(BODY_MAX), chunked)).status, 422);
        trial.same('a byte more in chunks', (await post(padded(BODY_MAX + 1), chunked)).status, 413);
        trial.same('a megabyte', (await post(padded(1_048_576))).status, 413);
        const bomb = gzipSync(Buffer.alloc(30_000_000, ' '));
        trial.holds(bomb.length < BODY_MAX, () => `the bomb itself has ${bomb.length} bytes`);
        for (const coding of ['gzip', 'deflate', 'br', 'x-gzip', 'gzip, gzip'])
          trial.same(`compressed with ${coding}`, (await post(bomb, { 'Content-Encoding': coding })).status, 422);
      },
    },
    {
      name: 'bodies that are deep, wide, odd or broken are 422 and nothing worse',
      async run(trial) {
        const bodies = {
          'lists in lists': '['.repeat(30_000) + ']'.repeat(30_000),
          'objects in objects': '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000),
          'thousands of fields': `{${Array.from({ length: 4_000 }, (_, index) => `"f${index}":1`).join(',')}}`,
          'one field thousands of times': `{${Array.from({ length: 4_000 }, () => '"amount":"1"').join(',')}}`,
          'a number of 60,000 digits': `{"amount":${'9'.repeat(60_000)}}`,
          'an exponent': '{"amount":1e999999}',
          'a prototype': '{"__proto__":{"amount":"1"},"constructor":{"prototype":{}}}',
          'a lone surrogate': '{"amount":"1","description":"\\ud800"}',
          'a NUL': '{"amount":"1\\u0000"}',
          'bytes that are no UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
          'a byte order mark': `\ufeff${padded(100)}`,
          'another encoding': Buffer.from(padded(100), 'utf16le'),
          'a string that never ends': '{"amount":"',
        };
        for (const [name, body] of Object.entries(bodies)) trial.same(name, (await post(body)).status, 422);
      },
    },
    {
      name: 'headers that are many or large are refused, and a path that is too long',
      async run(trial) {
        const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`X-H-${index}`, 'x']));
        const answers = {
          'three thousand headers': await askAs(merchant, 'GET', READ, { headers: many }),
          'a header of 40 kB': await askAs(merchant, 'GET', READ, { headers: { 'X-Large': 'x'.repeat(40_000) } }),
          'a path of 40 kB': await askAs(merchant, 'GET', `/api/v1/${'x'.repeat(40_000)}`),
        };
        for (const [name, { status }] of Object.entries(answers))
          trial.holds([400, 414, 431].includes(status), () => `${name} was answered ${status}`);
      },
    },
  ];
}

function slow(stack: StackFile): Check[] {
  return [
    {
      name: 'headers and bodies that never come to an end lose their connection, and hold up nobody',
      async run(trial) {
        const headers = 'GET /api/v1/merchant/limits HTTP/1.1\r\nHost: x\r\nX-Slow: ';
        const body =
          'POST /api/v1/payments HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{';
        const sockets = [
          ...Array.from({ length: 20 }, () => open(stack, headers)),
          ...Array.from({ length: 20 }, () => open(stack, body)),
        ];
        const answers = await Promise.all(Array.from({ length: 20 }, () => ask('GET', stack.edge_url + READ)));
        for (const { status } of answers) trial.same('somebody else meanwhile', status, 401);
        // The edge gives them ten seconds.
        await eventually(
          () => {
            const left = sockets.filter((socket) => !socket.closed).length;
            if (left > 0) throw new Error(`${left} of ${sockets.length} connections are open`);
          },
          { timeoutMs: 60_000, intervalMs: 250 },
        );
        trial.holds(true, () => '');
      },
    },
  ];
}

/** A connection from an address of its own that has said this much, and will say no more. */
function open(stack: StackFile, bytes: string, from = clientAddress()): Socket {
  const { hostname, port } = new URL(stack.edge_url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: from });
  socket.on('error', () => undefined);
  // Unread, an answer would keep the end of the connection from being seen.
  socket.resume();
  socket.write(bytes);
  return socket;
}

function connections(stack: StackFile): Check[] {
  return [
    {
      name: 'one address has thirty requests under way at most, and others are served beside it',
      async run(trial) {
        const from = clientAddress();
        const url = `${stack.edge_url}/pay/nothing`;
        const held = await Promise.all(Array.from({ length: ACTIVE_MAX }, () => hold(url, from)));
        try {
          const more = await Promise.all(Array.from({ length: 5 }, () => send('GET', url, { from })));
          for (const { status, headers } of more)
            trial.same('one more', [status, headers['retry-after']], [429, undefined]);
          const others = await Promise.all(Array.from({ length: 10 }, () => ask('GET', stack.edge_url + READ)));
          for (const { status } of others) trial.same('another address', status, 401);
        } finally {
          for (const one of held) one.destroy();
        }
      },
    },
    {
      name: 'hundreds of connections that say nothing keep nobody out',
      async run(trial) {
        const from = clientAddress();
        const sockets = Array.from({ length: 300 }, () => open(stack, '', from));
        try {
          const answers = await Promise.all(Array.from({ length: 20 }, () => ask('GET', stack.edge_url + READ)));
          for (const { status } of answers) trial.same('another address', status, 401);
        } finally {
          for (const socket of sockets) socket.destroy();
        }
      },
    },
  ];
}

function rates(stack: StackFile): Check[] {
  const limited: { name: string; burst: number; perSecond: number; count: number; method: string; path: string }[] = [
    { name: 'the API', burst: 30, perSecond: 10, count: 150, method: 'GET', path: READ },
    { name: 'public statuses', burst: 20, perSecond: 5, count: 120, method: 'GET', path: '/api/v1/payments/nothing' },
    {
      name: 'key rotation',
      burst: 3,
      perSecond: 1 / 60,
      count: 30,
      method: 'POST',
      path: '/api/v1/merchant/rotate-key',
    },
    { name: 'pages', burst: 50, perSecond: 20, count: 250, method: 'GET', path: '/pay/nothing' },
  ];
  return limited.map(({ name, count, method, path, ...allowed }) => ({
    name: `a flood of requests to ${name} from one address gets what is promised and no more`,
    async run(trial) {
      const refused = await flood(trial, allowed, count, (from) =>
        send(method, stack.edge_url + path, { from, headers: { 'secret-key': 'x' } }),
      );
      for (const { headers } of refused)
        trial.holds(headers['retry-after'] === undefined, () => 'the edge sends Retry-After');
    },
  }));
}

const alive = (stack: StackFile, merchant: Merchant): Check => ({
  name: 'after all of this the same processes are there, and work',
  async run(trial) {
    for (const { replicas } of Object.values(stack.services))
      for (const { pid } of replicas) trial.holds(process.kill(pid, 0), () => `process ${pid} is gone`);
    const payment = await merchant.created({ amount: '5.05' });
    trial.same('a creation', payment.status, 'PENDING');
  },
});
