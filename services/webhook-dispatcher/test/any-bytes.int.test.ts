import tls from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import { retryDelaySeconds } from '../src/events/outcome.ts';
import { createConnector, openTls } from '../src/sending/dial.ts';
import { createSender, type AttemptResult, type Sender } from '../src/sending/sender.ts';
import { createAuthority } from './certificates.ts';
import { startRawReceiver, type RawReceiver } from './raw-receiver.ts';

/** What a receiver writes, one byte for each character, and how the connection then ends. */
type Reply = { chunks: string[]; end: 'end' | 'destroy' | 'leave open' };

const lines = (...all: string[]): string => all.join('\r\n');

/** Whole answers, and parts of answers that need others. */
const good = [
  lines('HTTP/1.1 200 OK', 'content-length: 2', '', 'ok'),
  lines('HTTP/1.1 204 No Content', '', ''),
  lines('HTTP/1.1 500 Oh', 'content-type: text/html', 'connection: close', '', '<h1>no</h1>'),
  lines('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '', '5', 'hello', '0', '', ''),
  lines('HTTP/1.1 302 Found', 'location: https://elsewhere.raw.io/', 'content-length: 0', '', ''),
  lines('HTTP/1.1 429 Slow', 'retry-after: 7', 'content-length: 0', '', ''),
  lines('HTTP/1.1 100 Continue', '', ''),
  lines('HTTP/1.0 200 OK', 'content-encoding: gzip', '', 'x'),
  'SSH-2.0-OpenSSH_9.2\r\n',
];

const chunk = fc.oneof(
  fc.constantFrom(...good),
  fc.string({ unit: fc.nat({ max: 255 }).map((byte) => String.fromCharCode(byte)), maxLength: 40 }),
  // An answer with other bytes in the middle.
  fc
    .tuple(fc.constantFrom(...good), fc.nat({ max: 60 }), fc.nat({ max: 20 }), fc.string({ maxLength: 8 }))
    .map(([answer, at, cut, bytes]) => answer.slice(0, at) + bytes + answer.slice(at + cut)),
);
const replies = fc.record<Reply>({
  chunks: fc.array(chunk, { maxLength: 3 }),
  end: fc.constantFrom('end', 'destroy', 'leave open'),
});

let receiver: RawReceiver;
let sender: Sender;
let events = 0;

beforeAll(async () => {
  const authority = await createAuthority();
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority.certificate]);
  receiver = await startRawReceiver(authority);
  const connector = createConnector({
    resolve: async () => ['8.8.8.8'],
    dial: ({ host, timeoutMs }) => openTls({ address: '127.0.0.1', port: receiver.port, host, timeoutMs }),
  });
  sender = createSender({
    connector,
    clock: () => new Date(),
    timeoutMs: 400,
    bodyTimeoutMs: 200,
  });
});
afterAll(async () => {
  receiver.close();
  await sender.close();
});

const send = (): Promise<AttemptResult> => {
  events += 1;
  return sender.send({
    ...{ eventId: `evt_${events}`, merchantId: 'mer_1', keyId: 'whk_1', secret: 'whsec_1' },
    ...{ url: `https://host${events}.raw.io/`, body: Buffer.from('{}') },
  });
};

test('whatever bytes a receiver answers, the attempt ends, and is a success exactly with a status of 200 to 299', async () => {
  await fc.assert(
    fc.asyncProperty(replies, async ({ chunks, end }) => {
      receiver.behave((socket) => {
        for (const bytes of chunks) socket.write(Buffer.from(bytes, 'latin1'));
        if (end === 'end') socket.end();
        else if (end === 'destroy') socket.destroySoon();
      });
      const { httpStatus, errorCategory, retryAfterSeconds } = await send();
      const isSuccess = httpStatus !== null && httpStatus >= 200 && httpStatus <= 299;
      expect({ httpStatus, isSuccess: errorCategory === null }).toEqual({ httpStatus, isSuccess });
      // A status has three digits. Retry-After is a whole number of seconds, and the schedule limits it.
      expect(httpStatus ?? 200).toBeLessThan(1_000);
      expect(Number.isSafeInteger(retryAfterSeconds ?? 0)).toBe(true);
      const schedule = { failures: 1, delaysSeconds: [60, 300], retryAfterSeconds, random: 0.5 };
      expect(retryDelaySeconds(schedule)).toBeGreaterThanOrEqual(60);
      expect(retryDelaySeconds(schedule)).toBeLessThanOrEqual(300);
    }),
    {
      ...{ numRuns: amountOf({ short: 60, long: 1_500 }), seed: seedOf(20_261_127) },
      examples: [
        [{ chunks: [good[5]!], end: 'leave open' }],
        [{ chunks: [], end: 'destroy' }],
        [{ chunks: [good[6]!, good[7]!], end: 'destroy' }],
      ],
    },
  );
  receiver.behave((socket) => void socket.write(good[0]!));
  expect(await send()).toMatchObject({ errorCategory: null, httpStatus: 200 });
}, 900_000);
