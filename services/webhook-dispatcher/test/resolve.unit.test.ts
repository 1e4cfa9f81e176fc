import { describe, expect, test } from '@jest/globals';
import { NameNotFound } from '../src/sending/errors.ts';
import { publicAddresses } from '../src/sending/resolve.ts';

const answering =
  (...addresses: string[]) =>
  async () =>
    addresses;
const neverAsked = () => Promise.reject(new Error('nobody should have asked'));

describe('resolving a receiver', () => {
  test('returns all addresses when all are public', async () => {
    const addresses = ['8.8.8.8', '2001:4860:4860::8888'];
    await expect(publicAddresses('hooks.io', answering(...addresses))).resolves.toEqual(addresses);
  });

  test.each([
    ['the only answer', ['127.0.0.1']],
    ['the last of several answers', ['8.8.8.8', '1.1.1.1', '10.0.0.1']],
    ['an IPv4-mapped answer', ['::ffff:8.8.8.8']],
    ['an IPv6 answer beside a public IPv4 one', ['8.8.8.8', 'fd00::1']],
    ['an answer that is no address', ['8.8.8.8', 'localhost']],
  ])('refuses the host because of one address that is not public: %s', async (_case, addresses) => {
    await expect(publicAddresses('hooks.io', answering(...addresses))).rejects.toMatchObject({
      category: 'blocked_address',
    });
  });

  test('checks an address without a query', async () => {
    await expect(publicAddresses('8.8.8.8', neverAsked)).resolves.toEqual(['8.8.8.8']);
    await expect(publicAddresses('127.0.0.1', neverAsked)).rejects.toMatchObject({ category: 'blocked_address' });
    await expect(publicAddresses('::1', neverAsked)).rejects.toMatchObject({ category: 'blocked_address' });
  });

  test('distinguishes a name that does not exist or has no address from a resolver that does not answer', async () => {
    const missing = () => Promise.reject(new NameNotFound('gone.io'));
    await expect(publicAddresses('gone.io', missing)).rejects.toBeInstanceOf(NameNotFound);
    await expect(publicAddresses('empty.io', answering())).rejects.toBeInstanceOf(NameNotFound);
    const failing = () => Promise.reject(Object.assign(new Error('SERVFAIL'), { code: 'ESERVFAIL' }));
    const failure = await publicAddresses('hooks.io', failing).catch((error: unknown) => error);
    expect(failure).toMatchObject({ category: 'dns_error' });
    expect(failure).not.toBeInstanceOf(NameNotFound);
  });
});
