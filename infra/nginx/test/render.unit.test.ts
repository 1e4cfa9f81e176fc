import { expect, test } from '@jest/globals';
import { renderNginx } from '../render.ts';

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

test.each(['127.0.0.1:1; } http {', 'a"b', '$host'])('the address %s cannot break out of its place', (address) => {
  expect(() => renderNginx({ ...plan, edge: { ...plan.edge, gateway: [address] } })).toThrow('nginx cannot be given');
});

test('an upstream without a replica is an error here, not at the first request', () => {
  expect(() => renderNginx({ ...plan, edge: { ...plan.edge, gateway: [] } })).toThrow('at least one address');
});
