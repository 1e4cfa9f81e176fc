import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseEndpointUrl } from '../src/endpoint-url.ts';
import { isPublicAddress } from '../src/public-address.ts';

const escapes: Record<string, string> = { '\\t': '\t', '\\\\': '\\' };
const cases = readFileSync(new URL('fixtures/webhook-urls.tsv', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const tab = line.indexOf('\t');
    const url = line.slice(tab + 1).replace(/\\[t\\]/g, (escape) => escapes[escape] ?? escape);
    return { expected: line.slice(0, tab), url };
  });

describe('the URL policy', () => {
  test.each(cases.filter(({ expected }) => expected === 'accept'))('accepts $url', ({ url }) => {
    expect(parseEndpointUrl(url)).toMatchObject({ ok: true });
  });

  test.each(cases.filter(({ expected }) => expected === 'reject'))('refuses $url and says why', ({ url }) => {
    expect(parseEndpointUrl(url)).toEqual({ ok: false, reason: expect.any(String) });
  });

  test('every case of the table is one of the two', () => {
    expect(cases.length).toBeGreaterThan(150);
    expect(new Set(cases.map(({ expected }) => expected))).toEqual(new Set(['accept', 'reject']));
  });

  test.each(['\n', '\r', '\0', '\u007f', '\u00a0', '\u200b', '\u202e'])(
    'refuses the control character %j anywhere',
    (c) => {
      for (const url of [`${c}https://a.io/`, `https://a${c}.io/`, `https://a.io/${c}`, `https://a.io/x${c}y`]) {
        expect(parseEndpointUrl(url).ok).toBe(false);
      }
    },
  );

  test('refuses a URL or a host name that is too long', () => {
    const start = 'https://hooks.merchant.io/';
    expect(parseEndpointUrl(start.padEnd(2048, 'a')).ok).toBe(true);
    expect(parseEndpointUrl(start.padEnd(2049, 'a')).ok).toBe(false);
    expect(parseEndpointUrl(`https://${'a'.repeat(63)}.io/`).ok).toBe(true);
    expect(parseEndpointUrl(`https://${'a'.repeat(64)}.io/`).ok).toBe(false);
    expect(parseEndpointUrl(`https://${'abc.'.repeat(63)}io/`).ok).toBe(false);
  });

  test('returns where to connect and what to request', () => {
    expect(parseEndpointUrl('HTTPS://Hooks.Merchant.IO:443/Pay?Tenant=7')).toEqual({
      ok: true,
      endpoint: {
        url: 'HTTPS://Hooks.Merchant.IO:443/Pay?Tenant=7',
        ...{ path: '/Pay?Tenant=7', host: 'hooks.merchant.io' },
      },
    });
    expect(parseEndpointUrl('https://hooks.merchant.io?q')).toMatchObject({ endpoint: { path: '/?q' } });
    expect(parseEndpointUrl('https://[2001:4860:4860::8888]/')).toMatchObject({
      endpoint: { host: '2001:4860:4860::8888' },
    });
  });

  test.each([
    ['https://bücher.example/pay?q=1', 'https://xn--bcher-kva.example/pay?q=1'],
    ['https://BÜCHER.Example:443/', 'https://xn--bcher-kva.example:443/'],
    ['https://bu\u0308cher.example', 'https://xn--bcher-kva.example'],
    ['https://straße.example/', 'https://xn--strae-oqa.example/'],
    ['https://例え.テスト/', 'https://xn--r8jz45g.xn--zckzah/'],
    ['https://пример.рф/', 'https://xn--e1afmkfd.xn--p1ai/'],
    ['https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example/'],
  ])('accepts the international host name of %s and keeps it as %s', (text, url) => {
    const check = parseEndpointUrl(text);
    expect(check).toMatchObject({ ok: true, endpoint: { url } });
    expect(parseEndpointUrl(url)).toEqual(check);
  });

  test.each([
    'https://１２７.０.０.１/',
    'https://8。8。8。8/',
    'https://８.８.８.８/',
    'https://ｈooks.merchant.io/',
    'https://hooks。merchant.io/',
    'https://hooks.merchant.io\u3002/',
    'https://hoo\u00adks.merchant.io/',
    'https://hoo\u200dks.merchant.io/',
    'https://ﬁsh.example/',
    'https://bücher.localhost/',
    'https://bücher/',
    'https://bücher.example./',
    'https://bü_cher.example/',
    'https://bü%63her.example/',
    'https://ü@bücher.example/',
    'https://bücher.example:8443/',
    'https://bücher.example/päth',
    'https://bücher.example/#ü',
    'https://\u202ebücher.example/',
    `https://${'ü'.repeat(64)}.example/`,
    `https://bücher.example/${'a'.repeat(2023)}`,
  ])('refuses the other spelling %s', (text) => {
    expect(parseEndpointUrl(text)).toEqual({ ok: false, reason: expect.stringMatching(/^must /) });
  });

  test('a name that exists only inside a network is refused, unless it is allowed', () => {
    for (const suffix of ['localhost', 'local', 'internal', 'home.arpa', 'onion']) {
      const host = `shop.${suffix}`;
      const url = `https://${host}/`;
      expect(parseEndpointUrl(url)).toEqual({ ok: false, reason: 'must have a public host name' });
      expect(parseEndpointUrl(url, (asked) => asked === `www.${host}`)).toMatchObject({ ok: false });
      expect(parseEndpointUrl(url, (asked) => asked === host)).toMatchObject({ ok: true, endpoint: { host } });
    }
    // The rest of the policy still applies.
    for (const text of ['http://shop.internal/', 'https://shop.internal:8443/', 'https://10.0.0.1/', 'https://shop/']) {
      expect(parseEndpointUrl(text, () => true)).toMatchObject({ ok: false });
    }
  });

  test('Node parses every accepted URL as that host over HTTPS on the default port', () => {
    const pieces = fc.constantFrom(
      ...'ab0.-_@:/?#[]%\\ \tüß。８'.split(''),
      'https://',
      '127.0.0.1',
      'localhost',
      'a.io',
      '443',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = `https://${parts.join('')}`;
        const check = parseEndpointUrl(text);
        if (!check.ok) return;
        const url = new URL(check.endpoint.url);
        expect([url.protocol, url.port, url.username, url.password, url.hash]).toEqual(['https:', '', '', '', '']);
        expect(url.hostname.replace(/^\[|\]$/g, '')).toBe(check.endpoint.host);
        if (isIP(check.endpoint.host) !== 0) expect(isPublicAddress(check.endpoint.host)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
