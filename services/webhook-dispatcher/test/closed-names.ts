import type { Zone } from './name-server.ts';

export const publicAddress = '8.8.8.8';
export const outside = { a: [publicAddress] };
export const ownAddress = '127.0.0.1';

/** Names that must not be dialled, and the outcome of an attempt at each. */
export const closedNames: Record<string, { zone: Zone; category: 'blocked_address' | 'dns_error' }> = {
  'private.io': { zone: { a: [ownAddress] }, category: 'blocked_address' },
  'elsewhere-in-127.io': { zone: { a: ['127.77.7.7'] }, category: 'blocked_address' },
  'unspecified.io': { zone: { a: ['0.0.0.0'] }, category: 'blocked_address' },
  'unspecified-six.io': { zone: { aaaa: ['0:0:0:0:0:0:0:0'] }, category: 'blocked_address' },
  'loopback-six.io': { zone: { aaaa: ['0:0:0:0:0:0:0:1'] }, category: 'blocked_address' },
  'mapped.io': { zone: { aaaa: ['0:0:0:0:0:ffff:7f00:1'] }, category: 'blocked_address' },
  'mapped-public.io': { zone: { aaaa: ['0:0:0:0:0:ffff:808:808'] }, category: 'blocked_address' },
  'nat64.io': { zone: { aaaa: ['64:ff9b:0:0:0:0:7f00:1'] }, category: 'blocked_address' },
  'six-to-four.io': { zone: { aaaa: ['2002:7f00:1:0:0:0:0:1'] }, category: 'blocked_address' },
  'metadata.io': { zone: { a: ['169.254.169.254'] }, category: 'blocked_address' },
  'one-among-public.io': { zone: { a: ['8.8.8.8', '8.8.4.4', ownAddress] }, category: 'blocked_address' },
  'private-beside-six.io': {
    zone: { a: [ownAddress], aaaa: ['2001:4860:4860:0:0:0:0:8888'] },
    category: 'blocked_address',
  },
  'six-private-beside-four.io': {
    zone: { a: [publicAddress], aaaa: ['0:0:0:0:0:0:0:1'] },
    category: 'blocked_address',
  },
  'late-private-six.io': {
    zone: { a: [publicAddress], aaaa: ['0:0:0:0:0:0:0:1'], lateFor: 'aaaa' },
    category: 'blocked_address',
  },
  'alias.io': { zone: { cname: 'localhost', a: [ownAddress] }, category: 'blocked_address' },
  'chain.io': { zone: { cname: ['one.io', 'two.io', 'localhost'], a: [ownAddress] }, category: 'blocked_address' },
  'fleeting.io': { zone: { a: [ownAddress], ttl: 0 }, category: 'blocked_address' },
  'cut.io': { zone: { a: ['8.8.8.8', ownAddress], truncated: true }, category: 'blocked_address' },
  'huge.io': {
    zone: { a: [...Array.from({ length: 500 }, (_, n) => `8.8.${n >> 8}.${n & 255}`), ownAddress], truncated: true },
    category: 'blocked_address',
  },
  'alias-to-nothing.io': { zone: { cname: 'nowhere.io' }, category: 'dns_error' },
  'empty.io': { zone: {}, category: 'dns_error' },
  'unknown.io': { zone: 'NXDOMAIN', category: 'dns_error' },
  'failing.io': { zone: 'SERVFAIL', category: 'dns_error' },
  'refused.io': { zone: 'REFUSED', category: 'dns_error' },
  'silent.io': { zone: 'silence', category: 'dns_error' },
};
