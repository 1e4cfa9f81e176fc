import { describe, expect, test } from '@jest/globals';
import { ConfigurationError } from '@quittance/runtime/settings.ts';
import {
  refuseOwnServers,
  addressOf,
  findPrivateTarget,
  ownAddresses,
  parsePrivateTargets,
} from '../src/sending/private-targets.ts';

const merchant = `mer_${'a'.repeat(32)}`;
const other = `mer_${'b'.repeat(32)}`;
const parse = (text: string) => parsePrivateTargets(text, ['192.168.7.7', 'fd00::7']);

describe('a private target', () => {
  test('is one address and port for one merchant and host', () => {
    const targets = parse(`${merchant}@shop.internal=10.1.2.3:8443, ${other}@pay.shop.example=[fd00::5]:443`);
    expect(targets).toEqual([
      { merchantId: merchant, host: 'shop.internal', address: '10.1.2.3', port: 8443 },
      { merchantId: other, host: 'pay.shop.example', address: 'fd00::5', port: 443 },
    ]);
    expect(targets.map(addressOf)).toEqual(['10.1.2.3:8443', '[fd00::5]:443']);
    expect(findPrivateTarget(targets, merchant, 'shop.internal')).toBe(targets[0]);
    for (const [whose, host] of [
      [other, 'shop.internal'],
      [merchant, 'pay.shop.example'],
      [merchant, 'www.shop.internal'],
      [merchant, 'internal'],
    ] as const) {
      expect(findPrivateTarget(targets, whose, host)).toBeUndefined();
    }
  });

  test.each(['10.0.0.1', '172.16.0.1', '172.31.255.254', '192.168.0.1', '100.64.0.1', '[fd12:3456::1]'])(
    'may be at %s',
    (address) => expect(parse(`${merchant}@shop.internal=${address}:1`)).toHaveLength(1),
  );

  test.each([
    ...['127.0.0.1', '127.9.9.9', '[::1]', '0.0.0.0', '[::]', '169.254.1.1', '[fe80::1]', '[fe80::1%eth0]'],
    ...['169.254.169.254', '168.63.129.16', '100.100.100.200', '[fd00:ec2::254]', '[fd20:ce::254]'],
    ...['224.0.0.1', '[ff02::1]', '255.255.255.255', '240.0.0.1', '192.0.0.192', '198.18.0.1', '192.0.2.1'],
    ...['8.8.8.8', '172.32.0.1', '[2606:4700::1111]', '[2001:db8::1]', '[64:ff9b::a00:1]', '[2002:a00:1::1]'],
    // Unusual spellings, and IPv4 in IPv6.
    ...['10.0.1', '10.0.0.01', '0xa.0.0.1', '167772161', '[::ffff:10.0.0.1]', '[::ffff:a00:1]', '[::10.0.0.1]'],
    ...['[fd00:0:0:0:0:0:0:5]', '[FD00::5]', 'fd00::5', '[10.0.0.1]', 'db.internal', ''],
    // Of this machine.
    ...['192.168.7.7', '[fd00::7]'],
  ])('may not be at %p', (address) => {
    expect(() => parse(`${merchant}@shop.internal=${address}:8443`)).toThrow(/^entry 1 must /);
  });

  test.each([
    ...[
      'shop',
      'internal',
      'Shop.internal',
      'shop.internal.',
      '.internal',
      'shop..internal',
      '-a.internal',
      '*.internal',
    ],
    ...['10.0.0.1', '8.8.8.8', '[fd00::5]', 'shop.0x7f', 'shop.internal/pay', 'shop.internal:443', 'a@shop.internal'],
    ...['shop.internal?', 'shop.internal#', 'shop internal', 'bücher.internal', 'shop.internal%2e', ''],
  ])('may not have the host %p', (host) => {
    expect(() => parse(`${merchant}@${host}=10.0.0.1:8443`)).toThrow(/^entry 1 must /);
  });

  test.each([
    ...['mer_1', merchant.toUpperCase(), `pay_${'a'.repeat(32)}`, '*', ''].map(
      (id) => `${id}@shop.internal=10.0.0.1:1`,
    ),
    ...['', ':', ':0', ':65536', ':-1', ':8443/', ':84 43'].map((port) => `${merchant}@shop.internal=10.0.0.1${port}`),
    ...[
      `${merchant}@shop.internal=10.0.0.1:1;`,
      `${merchant}@shop.internal=10.0.0.0/8:1`,
      `${merchant}=10.0.0.1:1`,
      'x',
    ],
  ])('may not be written %p', (entry) => {
    expect(() => parse(entry)).toThrow(/^entry 1 must /);
  });

  test('is unique for its merchant and host, and every invalid entry is reported', () => {
    const entry = `${merchant}@shop.internal=10.0.0.1:8443`;
    const twice = `${entry},${other}@shop.internal=10.0.0.1:8443,${merchant}@shop.internal=10.0.0.2:8443,`;
    expect(() => parse(twice)).toThrow(/^entry 3 repeats .*; entry 4 must /);
    expect(() => parse(Array.from({ length: 101 }, () => entry).join(','))).toThrow('at most 100');
  });

  test('is not at an address of this machine, which are those of its interfaces', () => {
    expect(ownAddresses()).toContain('127.0.0.1');
    expect(() => parsePrivateTargets(`${merchant}@shop.internal=10.1.2.3:1`, ['10.1.2.3'])).toThrow('this machine');
  });
});

describe('at the start', () => {
  const targets = parse(`${merchant}@shop.internal=10.1.2.3:8443`);

  test.each([
    'postgres://service:secret@10.1.2.3:5432/quittance',
    'postgres://service@10.9.9.9,10.1.2.3:5432/quittance',
    'postgres://service@localhost/quittance?host=10.1.2.3',
    'amqp://10.1.2.3/',
  ])('a target at a server of ours is refused: %s', async (url) => {
    const refused = refuseOwnServers(targets, ['amqp://localhost', url]);
    await expect(refused).rejects.toThrow(ConfigurationError);
    await expect(refused).rejects.toThrow('10.1.2.3:8443 is an address of 10.1.2.3');
    await expect(refused).rejects.not.toThrow('secret');
  });

  test('one elsewhere is not refused, and unknown names are no problem', async () => {
    await refuseOwnServers(targets, ['postgres://localhost/quittance', 'amqp://nobody.invalid/']);
    await refuseOwnServers([], ['postgres://10.1.2.3/quittance']);
  });
});
