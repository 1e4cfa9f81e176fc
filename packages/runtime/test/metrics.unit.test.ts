import { expect, test } from '@jest/globals';

import { createMetrics } from '../src/metrics.ts';

test('one name is one metric, whoever asks for it', async () => {
  const metrics = createMetrics({ service: 'shop', processMetrics: false });
  metrics.counter('payments_created_total', 'Payments created', ['network']).inc({ network: 'local' });
  metrics.counter('payments_created_total', 'Payments created', ['network']).inc({ network: 'local' });
  expect((await metrics.render()).text).toContain('payments_created_total{network="local",service="shop"} 2');
});

test('a scrape reads values that live elsewhere', async () => {
  const metrics = createMetrics({ service: 'shop', processMetrics: false });
  const size = metrics.gauge('queue_size', 'Queue size');
  let current = 1;
  metrics.beforeScrape(() => size.set(current));
  expect((await metrics.render()).text).toContain('queue_size{service="shop"} 1');
  current = 7;
  expect((await metrics.render()).text).toContain('queue_size{service="shop"} 7');
});

test('a process shows its event loop lag and memory', async () => {
  const { text } = await createMetrics({ service: 'shop' }).render();
  expect(text).toContain('nodejs_eventloop_lag_seconds');
  expect(text).toContain('process_resident_memory_bytes');
});
