import { readFileSync, globSync } from 'node:fs';
import { totalmem } from 'node:os';
import { expect, test } from '@jest/globals';

import { createMetrics } from '../src/metrics.ts';

test('one name is one metric, wherever it is used', async () => {
  const metrics = createMetrics({ service: 'shop', processMetrics: false });
  metrics.counter('payments_created_total', 'Payments created', ['network']).inc({ network: 'local' });
  metrics.counter('payments_created_total', 'Payments created', ['network']).inc({ network: 'local' });
  expect((await metrics.render()).text).toContain('payments_created_total{network="local",service="shop"} 2');
});

test('a scrape reads values that are kept elsewhere', async () => {
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

test('a process says which release it is and how much memory it may have', async () => {
  const { text } = await createMetrics({ service: 'shop' }).render();
  expect(text).toMatch(/^quittance_build_info\{version="\d+\.\d+\.\d+",node="v\d+\.\d+\.\d+",service="shop"\} 1$/m);
  const limit = Number(/^process_memory_limit_bytes\{service="shop"\} (\S+)$/m.exec(text)?.[1]);
  expect(limit).toBeGreaterThan(process.memoryUsage.rss());
  // Without a limit the kernel reports a number larger than any machine's memory.
  expect(limit).toBeLessThanOrEqual(totalmem());
});

test('a process says how much of its disk is free', async () => {
  const { text } = await createMetrics({ service: 'shop' }).render();
  const free = Number(/^disk_free_ratio\{service="shop"\} (\S+)$/m.exec(text)?.[1]);
  expect(free).toBeGreaterThan(0);
  expect(free).toBeLessThan(1);
});

test('all packages have one version, so that it names the release', () => {
  const root = new URL('../../../', import.meta.url);
  const versionOf = (file: string) =>
    (JSON.parse(readFileSync(new URL(file, root), 'utf8')) as { version: string }).version;
  const manifests = globSync('{packages,packages/integrations,services}/*/package.json', { cwd: root });
  expect(manifests.length).toBeGreaterThan(20);
  expect(new Set(['package.json', ...manifests].map(versionOf))).toEqual(new Set([versionOf('package.json')]));
});
