import { describe, expect, test } from '@jest/globals';
import { isNetwork, renderNginx } from '../render.ts';

const plan = { directory: '/data/my stack/nginx', edge: { listen: '127.0.0.1:8080', gateway: ['127.0.0.1:8100'] } };

test('every placeholder is filled, and a path with a space stays one word', () => {
  const text = renderNginx({
    ...plan,
    user: { name: 'nobody', group: 'nogroup' },
    balancers: [{ name: 'chain-watcher', listen: '127.0.0.1:8090', replicas: ['127.0.0.1:1', '127.0.0.1:2'] }],
  });
  expect(text).not.toMatch(/\{\{|\}\}/);
  expect(text).toContain('pid "/data/my stack/nginx/nginx.pid";');
  expect(text).toContain('user nobody nogroup;');
  expect(text).toContain('upstream balancer_chain_watcher {');
  expect(text).toContain('server 127.0.0.1:2 max_fails');
});

test('without root there is no user, and without balancers only the edge', () => {
  const text = renderNginx(plan);
  expect(text).not.toMatch(/^user /m);
  expect(text).not.toContain('balancer');
});

test.each(['127.0.0.1:1; } http {', 'a"b', '$host'])('the address %s cannot break the syntax', (address) => {
  expect(() => renderNginx({ ...plan, edge: { ...plan.edge, gateway: [address] } })).toThrow('nginx cannot be given');
});

test('an upstream without a replica is an error when rendering, not at the first request', () => {
  expect(() => renderNginx({ ...plan, edge: { ...plan.edge, gateway: [] } })).toThrow('at least one address');
});

describe('trusted proxies', () => {
  const withProxies = (...trustedProxies: string[]) => renderNginx({ ...plan, edge: { ...plan.edge, trustedProxies } });

  test('there are none unless they are named', () => {
    expect(renderNginx(plan)).not.toContain('set_real_ip_from');
    expect(renderNginx(plan)).toBe(withProxies());
  });

  test('each is trusted for the client and the scheme', () => {
    const text = withProxies('192.0.2.1', '2001:db8::/32');
    for (const line of [
      'set_real_ip_from 192.0.2.1;',
      '192.0.2.1 1;',
      'set_real_ip_from 2001:db8::/32;',
      '2001:db8::/32 1;',
    ])
      expect(text).toContain(`  ${line}\n`);
  });

  test.each(['192.0.2.1', '10.0.0.0/8', '192.0.2.1/32', '::1', '2001:db8::/32', '::1/128'])('%s is one', (text) => {
    expect(isNetwork(text)).toBe(true);
  });

  test.each([
    '',
    ' 192.0.2.1',
    'proxy.example',
    '192.0.2',
    '192.0.2.256',
    '010.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    '0.0.0.0/0',
    '::/0',
    '::1/129',
    'fe80::1%eth0',
    'unix:',
    '10.0.0.1; deny all',
    '10.0.0.1\n',
  ])('%j is none', (text) => {
    expect(isNetwork(text)).toBe(false);
    expect(() => withProxies('192.0.2.1', text)).toThrow(`"${text}" is not an address or network of a trusted proxy`);
  });
});

test('no request is ever delayed: it passes or is refused', () => {
  const limits = renderNginx(plan).match(/^ *limit_req zone=.*$/gm) ?? [];
  expect(limits.length).toBeGreaterThan(0);
  for (const limit of limits) expect(limit).toMatch(/ burst=\d+ nodelay;$/);
});
