import { describe, expect, test } from '@jest/globals';
import { clientAddress, clientBlock, parseTrustedProxies } from '../src/server/client-address.ts';

const from = (remoteAddress: string, forwarded?: string, proxies = '') =>
  clientAddress(
    { remoteAddress, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } },
    parseTrustedProxies(proxies),
  );

describe('the address of a client', () => {
  test("is its connection's, whatever its headers say, if no proxy is trusted", () => {
    expect(from('192.0.2.1')).toBe('192.0.2.1');
    expect(from('192.0.2.1', '203.0.113.9')).toBe('192.0.2.1');
    expect(from('192.0.2.1', '203.0.113.9', '10.0.0.0/8')).toBe('192.0.2.1');
    expect(from('::ffff:192.0.2.1')).toBe('192.0.2.1');
  });

  test.each([
    ['10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['10.1.2.3', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['10.1.2.3', '198.51.100.1, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
    ['::ffff:10.1.2.3', ' 203.0.113.9', '203.0.113.9'],
    ['fd00::1', '2001:db8::5', '2001:db8::5'],
    // When all are proxies, the farthest one.
    ['10.1.2.3', '10.4.4.4, 10.5.5.5', '10.4.4.4'],
    // Anything that isn't an address ends the trusted part.
    ['10.1.2.3', '203.0.113.9, nonsense', '10.1.2.3'],
    ['10.1.2.3', '203.0.113.9, nonsense, 10.9.9.9', '10.9.9.9'],
    ['10.1.2.3', '', '10.1.2.3'],
  ])('from the trusted proxy %s, which forwards for %p, is %s', (proxy, forwarded, client) => {
    expect(from(proxy, forwarded, '10.0.0.0/8, fd00::1')).toBe(client);
  });

  test.each(['10.0.0.0/33', '10.0.0.0/0', '::/0', 'proxy.example', '10.0.0.1/', 'fe80::1%eth0', '10.0.0.1;10.0.0.2'])(
    'does not depend on %p, which is no proxy',
    (proxies) => {
      expect(() => parseTrustedProxies(proxies)).toThrow('must list addresses or networks');
    },
  );
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
])('limits count the client %s as %s', (address, block) => {
  expect(clientBlock(address)).toBe(block);
});
