import { describe, expect, test } from '@jest/globals';
import { parseAmqpUrls } from '../src/amqp-urls.ts';

describe('AMQP_URL leads to', () => {
  test.each<[string, string, string[]]>([
    ['one host', 'amqp://u:p@h:5672/v', ['amqp://u:p@h:5672/v']],
    ['one host without user, port and virtual host', 'amqps://h', ['amqps://h']],
    ['several hosts of one URL', 'amqps://u:p@h1:5671,h2/v', ['amqps://u:p@h1:5671/v', 'amqps://u:p@h2/v']],
    ['several URLs', 'amqp://u:p@h1/v, amqp://u:p@h2:5673/v', ['amqp://u:p@h1/v', 'amqp://u:p@h2:5673/v']],
    ['IPv6 addresses', 'amqp://[::1]:5672,[::2]:5672/', ['amqp://[::1]:5672/', 'amqp://[::2]:5672/']],
    ['one host, with commas in the password', 'amqp://u:p,q@h/v', ['amqp://u:p,q@h/v']],
    ['the default virtual host', 'amqp://h1,h2/%2f', ['amqp://h1/%2f', 'amqp://h2/%2f']],
    [
      'hosts with the same parameters',
      'amqp://h1,h2/v?heartbeat=5',
      ['amqp://h1/v?heartbeat=5', 'amqp://h2/v?heartbeat=5'],
    ],
  ])('%s', (_what, text, urls) => {
    expect(parseAmqpUrls(text)).toEqual(urls);
  });
});

describe('AMQP_URL is refused', () => {
  const DIFFERENT = 'may list several URLs only if they differ in nothing but host and port';
  const COMMA = 'has a comma after the hosts: in the name of a virtual host it must be written as %2C';
  const FORM = 'must be a URL with amqp: or amqps:, a host or several with commas between them, and a virtual host';
  test.each<[string, string, string]>([
    ['with another user', 'amqp://u:p@h1/v,amqp://w:p@h2/v', DIFFERENT],
    ['with another password', 'amqp://u:p@h1/v,amqp://u:q@h2/v', DIFFERENT],
    ['with another virtual host', 'amqp://u:p@h1/v,amqp://u:p@h2/w', DIFFERENT],
    ['with and without TLS', 'amqp://u:p@h1/v,amqps://u:p@h2/v', DIFFERENT],
    ['with other parameters', 'amqp://u:p@h1/v,amqp://u:p@h2/v?heartbeat=5', DIFFERENT],
    ['with a second URL without scheme', 'amqp://u:p@h1/v,h2/v', COMMA],
    ['with a comma at the end', 'amqp://u:p@h1/v,', COMMA],
    ['with an empty host', 'amqp://u:p@h1,,h2/v', FORM],
    ['with a port that is no number', 'amqp://u:p@h1:five/v', FORM],
    ['with another scheme', 'http://u:p@h1/v', FORM],
    ['with a host alone', 'h1:5672', FORM],
  ])('%s', (_what, text, reason) => {
    expect(() => parseAmqpUrls(text)).toThrow(new Error(reason));
  });
});
