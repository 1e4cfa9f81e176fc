import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { currentCaller, type Caller } from '@quittance/runtime/concurrency/caller.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';

import { rawClient, startServer, type TestServer } from './server-fixture.ts';

const internalToken = 't'.repeat(32);
const PUBLIC_TIMEOUT_MS = 100_000;
const LONG_TIMEOUT_MS = 9_000_000;
let server: TestServer;
let callers: (Caller | null)[] = [];
const answered: PromiseWithResolvers<void> = Promise.withResolvers();

beforeAll(async () => {
  const handle = () => {
    callers.push(currentCaller());
    return { status: 200, body: {} };
  };
  server = await startServer({
    trust: sharedTrust(internalToken),
    publicTimeoutMs: PUBLIC_TIMEOUT_MS,
    routes: [
      { method: 'GET', path: '/internal/v1/thing', handle },
      { method: 'GET', path: '/thing', handle },
      { method: 'GET', path: '/long', publicTimeoutMs: LONG_TIMEOUT_MS, handle },
      {
        method: 'GET',
        path: '/slow',
        handle: async () => {
          handle();
          await answered.promise;
          return { status: 200, body: {} };
        },
      },
    ],
  });
});
afterAll(async () => {
  answered.resolve();
  await server.stop();
});

/** What the route knows about its caller. */
async function callerOf(path: string, headers: Record<string, string> = {}): Promise<Caller> {
  callers = [];
  expect((await fetch(server.url + path, { headers: { 'x-internal-token': internalToken, ...headers } })).status).toBe(
    200,
  );
  const [caller] = callers;
  if (!caller) throw new Error('the route had no caller');
  return caller;
}

test('a calling service states how long it waits, and a fifth of that is reserved for the answer', async () => {
  const caller = await callerOf('/internal/v1/thing', { 'x-timeout-ms': '50000' });
  expect(caller.remainingMs()).toBeLessThanOrEqual(50_000);
  expect(caller.remainingMs() - caller.commitWithinMs()).toBeCloseTo(10_000, -3);
});

test.each(['', '0x10', '-1', '1e3', '12345678'])('a service that states %j waits until it hangs up', async (text) => {
  const caller = await callerOf('/internal/v1/thing', text === '' ? {} : { 'x-timeout-ms': text });
  expect([caller.remainingMs(), caller.commitWithinMs()]).toEqual([Infinity, Infinity]);
  expect(caller.hungUp.aborted).toBe(false);
});

test('a request from outside gets the same time as any other, whatever it states', async () => {
  const caller = await callerOf('/thing', { 'x-timeout-ms': '9000000' });
  expect(caller.remainingMs()).toBeLessThanOrEqual(PUBLIC_TIMEOUT_MS);
});

test('a request from outside gets the time of its route if the route sets one', async () => {
  const caller = await callerOf('/long');
  expect(caller.remainingMs()).toBeGreaterThan(PUBLIC_TIMEOUT_MS);
  expect(caller.remainingMs()).toBeLessThanOrEqual(LONG_TIMEOUT_MS);
});

test('a caller that closes its connection counts as hung up, and one that got its answer does not', async () => {
  callers = [];
  const client = await rawClient(server.port);
  client.send('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
  await eventually(() => expect(callers).toHaveLength(1));
  expect(callers[0]?.hungUp.aborted).toBe(false);
  client.socket.destroy();
  await eventually(() => expect(callers[0]?.hungUp.aborted).toBe(true));
  const other = await callerOf('/thing');
  expect(other.hungUp.aborted).toBe(false);
});
