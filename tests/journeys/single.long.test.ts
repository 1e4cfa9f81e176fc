import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { stackDirectory } from '@quittance/local-stack/stack/directory.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { Shop } from '../support/shop.ts';

const patience = { intervalMs: 600 };

describe('all services in one process', () => {
  let stack: JourneyStack;
  let log: () => Record<string, unknown>[];

  beforeAll(async () => {
    stack = await journeyStack({
      single: true,
      sharesBroker: true,
      prepare: (directory) => {
        log = () => readLog(join(stackDirectory(directory.root).logs, 'single-1.log'));
        return Promise.resolve();
      },
    });
  });
  afterAll(() => stack.close(), 180_000);

  test('a payment is paid and its webhook delivered, before and after the process is killed', async () => {
    expect(
      new Set(Object.values(stack.file.services).flatMap(({ replicas }) => replicas.map(({ pid }) => pid))).size,
    ).toBe(1);
    const shop = await Shop.open(stack);
    const pay = async (amount: string): Promise<void> => {
      const idempotencyKey = randomUUID();
      const { payment_id: paymentId } = await eventually(async () => {
        const created = await shop.create(amount, idempotencyKey);
        expect(created.status).toBe(201);
        return created.body;
      }, patience);
      await shop.pay(amount);
      await eventually(async () => {
        expect(await shop.deliveries(paymentId)).toMatchObject([{ status: 'delivered' }]);
        expect((await shop.details(paymentId)).status).toBe('PAID');
      }, patience);
    };
    await pay('10.5');
    await stack.services[0]!.kill();
    await pay('11.5');
  });

  test('metrics and log lines name their service, and a stop closes every service before the process ends with 0', async () => {
    for (const name of serviceNames) {
      const metrics = await (await fetch(`${stack.file.services[name].url}/metrics`)).text();
      expect(metrics).toContain(`process_resident_memory_bytes{service="${name}"}`);
    }
    expect(await stack.services[0]!.restart()).toMatch(/exit code 0$/);
    const stopped = log().filter(({ msg }) => msg === 'stopped');
    expect(stopped.map(({ service }) => service).sort()).toEqual([...serviceNames].sort());
  });
});

const readLog = (file: string): Record<string, unknown>[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
