import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { NameNotFound } from '../src/sending/errors.ts';
import { publicAddresses, systemResolve, type Resolve } from '../src/sending/resolve.ts';
import { startNameServer } from './name-server.ts';

let server: Awaited<ReturnType<typeof startNameServer>>;
let resolve: Resolve;
beforeAll(async () => {
  server = await startNameServer({
    'both.io': { a: ['8.8.8.8', '8.8.4.4'], aaaa: ['2001:4860:4860:0:0:0:0:8888'] },
    'four.io': { a: ['8.8.8.8'] },
    'six.io': { aaaa: ['2001:4860:4860:0:0:0:0:8888'] },
    'late-four.io': { a: ['8.8.8.8'], aaaa: ['2001:4860:4860:0:0:0:0:8888'], lateFor: 'a', lateMs: 1_500 },
    'slow-four.io': { a: ['8.8.8.8'], lateFor: 'a', lateMs: 2_200 },
    'lossy.io': { a: ['8.8.8.8'], losesFirst: true },
    'slow-once.io': { a: ['8.8.8.8'], lateFor: 'a', lateMs: 1_500, losesRepeated: true },
    'mixed.io': { a: ['8.8.8.8', '127.0.0.1'] },
    'private-six.io': { a: ['8.8.8.8'], aaaa: ['fd00:0:0:0:0:0:0:1'] },
    'mapped.io': { aaaa: ['0:0:0:0:0:ffff:808:808'] },
    'alias.io': { cname: 'localhost', a: ['127.0.0.1'] },
    'alias-outside.io': { cname: 'four.io', a: ['8.8.8.8'] },
    'empty.io': {},
    'failing.io': 'SERVFAIL',
    'refused.io': 'REFUSED',
    'silent.io': 'silence',
  });
  resolve = systemResolve({ servers: [server.address] });
});
afterAll(() => server.close());

test.each([
  ['both.io', ['8.8.8.8', '8.8.4.4', '2001:4860:4860::8888']],
  ['four.io', ['8.8.8.8']],
  ['six.io', ['2001:4860:4860::8888']],
  ['alias-outside.io', ['8.8.8.8']],
  ['late-four.io', ['8.8.8.8', '2001:4860:4860::8888']],
  ['slow-four.io', ['8.8.8.8']],
  ['lossy.io', ['8.8.8.8']],
])('%s resolves to all its addresses', async (name, addresses) => {
  // This tests that the resolver waits, not how long it waits in production.
  expect((await publicAddresses(name, resolve, 20_000)).toSorted()).toEqual(addresses.toSorted());
});

test('a server that was fast before is waited for when it is slow, also by the first question', async () => {
  // A resolver that is used again learns from fast answers to wait only a quarter of a second.
  const used = systemResolve({ servers: [server.address] });
  for (let n = 0; n < 10; n += 1) await used('four.io', 20_000);
  expect(await publicAddresses('slow-once.io', used, 20_000)).toEqual(['8.8.8.8']);
});

test('a dead server only costs a moment: the next one is asked too', async () => {
  const dead = createSocket('udp4');
  dead.bind(0, '127.0.0.1');
  await once(dead, 'listening');
  const both = systemResolve({ servers: [`127.0.0.1:${dead.address().port}`, server.address] });
  expect(await publicAddresses('four.io', both, 20_000)).toEqual(['8.8.8.8']);
  dead.close();
});

test.each(['mixed.io', 'private-six.io', 'mapped.io', 'alias.io'])('%s is blocked', async (name) => {
  await expect(publicAddresses(name, resolve)).rejects.toMatchObject({ category: 'blocked_address' });
});

test.each(['nobody.io', 'empty.io'])('%s is reported as a name that does not exist', async (name) => {
  await expect(publicAddresses(name, resolve)).rejects.toBeInstanceOf(NameNotFound);
});

test.each(['failing.io', 'refused.io', 'silent.io'])('%s is a resolver failure, after a bounded wait', async (name) => {
  const failure = await publicAddresses(name, resolve).catch((error: unknown) => error);
  expect(failure).toMatchObject({ category: 'dns_error' });
  expect(failure).not.toBeInstanceOf(NameNotFound);
});
