import { expect, test } from '@jest/globals';
import { readTrustedProxies } from '../trusted-proxies.ts';

test.each([
  [undefined, []],
  ['', []],
  ['10.0.0.0/8', ['10.0.0.0/8']],
  [' 192.0.2.1 , 2001:db8::/32,', ['192.0.2.1', '2001:db8::/32']],
])('EDGE_TRUSTED_PROXIES=%j names %j', (text, proxies) => {
  expect(readTrustedProxies(text === undefined ? {} : { EDGE_TRUSTED_PROXIES: text })).toEqual(proxies);
});

test.each(['proxy.example', '10.0.0.0/8;', '10.0.0.0/8 192.0.2.1', '0.0.0.0/0', '192.0.2.1,fe80::1%eth0'])(
  'EDGE_TRUSTED_PROXIES=%j prevents the start, with an error that names the entry',
  (text) => {
    const entry = text.split(',').at(-1)!;
    const sentence = `EDGE_TRUSTED_PROXIES must list addresses or networks such as 10.0.0.0/8, separated by commas, and "${entry}" is neither.`;
    expect(() => readTrustedProxies({ EDGE_TRUSTED_PROXIES: text })).toThrow(sentence);
  },
);
