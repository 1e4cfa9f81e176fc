import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { PaymentCreated } from '@quittance/contracts/messages.ts';
import { newMessageId } from '@quittance/messaging/broker/amqp-message.ts';
import { EXCHANGE } from '@quittance/messaging/broker/topology.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../../support/database.ts';
import { startLoneService, type LoneService } from '../../support/lone-service.ts';
import { serviceDatabase } from '../../support/service-database.ts';
import type { Backends } from './backends.ts';
import type { CatchUpNode, CatchUpOrder } from './catch-up-node-process.ts';
import { entryOf, type CatchUpPlan } from './catch-up-plans.ts';
import { cpuUsOf } from './cpu.ts';
import { startForked } from './forked.ts';
import type { EndpointCounts } from './provider-counts.ts';
import { connectPublisher, consumeTransfers } from './transfers.ts';

export type CatchUp = {
  plan: CatchUpPlan;
  behind: number;
  orders: number;
  /** Until the first and the last order was confirmed. */
  firstSeconds: number;
  seconds: number;
  calls: number;
  byKind: EndpointCounts['calls'];
  mostInASecond: number;
  mostUnitsInTenSeconds: number;
  /** Of chain-watcher, and of the synthetic node. */
  cpuSeconds: number;
  nodeCpuSeconds: number;
};

/** Blocks that are read before the outage. */
const HISTORY = 120;
const PATIENCE = { timeoutMs: 1_800_000, intervalMs: 100 };
/** An order is paid a minute after it was created, and is open for half an hour. */
const PAID_AFTER_MS = 60_000;
const OPEN_MS = 30 * 60_000;

/** One outage of this many blocks, at one endpoint with this plan. */
export async function measureCatchUp(plan: CatchUpPlan, behind: number, backends: Backends): Promise<CatchUp> {
  const { adminUrl, broker, directory } = backends;
  const args = [plan.id, String(behind), String(HISTORY)];
  const node: CatchUpNode = startForked('catch-up-node-process.ts', 'the node', { args });
  const closers: (() => Promise<void>)[] = [() => node.close()];
  try {
    await node.ask('prepare');
    const name = `catch_up_${plan.id}_${behind}`;
    const password = 'only for a benchmark';
    const database = await serviceDatabase({ service: 'chain-watcher', adminUrl, database: name, password });
    const amqpUrl = await broker.addVirtualHost(name);
    const networks = join(directory, name, 'networks.json');
    await mkdir(join(directory, name), { recursive: true });
    await writeFile(networks, JSON.stringify([(await entryOf(plan, await node.ask('url'))).entry]));
    const start = async (): Promise<LoneService> => {
      const places = { directory: join(directory, name), databaseUrl: database.url, amqpUrl };
      const service = await startLoneService({ name: 'chain-watcher', ...places, env: { NETWORKS_FILE: networks } });
      closers.unshift(() => service.stop());
      return service;
    };
    const before = await start();
    await untilRead(database.adminUrl, HISTORY);
    await before.stop();

    const orders = await node.ask('orders');
    await createOrders(amqpUrl, plan.id, orders);
    const confirmed = new Map<number, number>();
    const consumer = await consumeTransfers(amqpUrl, ({ phase, block_number: block }, at) => {
      if (phase === 'confirmed' && !confirmed.has(block)) confirmed.set(block, at);
    });
    closers.unshift(() => consumer.close());
    const nodeCpuBefore = cpuUsOf(node.pid) ?? Number.NaN;
    await node.ask('show');
    const startedAt = performance.timeOrigin + performance.now();
    const service = await start();
    await eventually(() => {
      const missing = orders.filter(({ block }) => !confirmed.has(block)).length;
      if (missing > 0) throw new Error(`${missing} of ${orders.length} orders are not confirmed`);
    }, PATIENCE);
    const uses = await node.ask('uses');
    const times = orders.map(({ block }) => ((confirmed.get(block) ?? Number.NaN) - startedAt) / 1000);
    return {
      ...{ plan, behind, orders: orders.length, firstSeconds: Math.min(...times), seconds: Math.max(...times) },
      ...uses,
      cpuSeconds: (cpuUsOf(service.pid) ?? Number.NaN) / 1e6,
      nodeCpuSeconds: ((cpuUsOf(node.pid) ?? Number.NaN) - nodeCpuBefore) / 1e6,
    };
  } finally {
    for (const close of closers) await close();
  }
}

const untilRead = (adminUrl: string, height: number): Promise<void> =>
  withDatabase(adminUrl, (db) =>
    eventually(async () => {
      const { rows } = await db.query<{ number: string | null }>('select number from chain.cursor');
      if (Number(rows[0]?.number ?? 0) < height) throw new Error(`the chain is not read up to ${height}`);
    }, PATIENCE),
  );

/** The messages wait in the queue of chain-watcher, as after an outage of it alone. */
async function createOrders(
  amqpUrl: string,
  network: CatchUpPlan['id'],
  orders: readonly CatchUpOrder[],
): Promise<void> {
  const broker = await connectPublisher(amqpUrl);
  try {
    const { name, version } = PaymentCreated;
    const outcomes = await broker.publish(
      orders.map(({ wallet, paidAt }) => {
        const createdAt = paidAt * 1000 - PAID_AFTER_MS;
        const payment: PaymentCreated = {
          ...{ payment_id: newId('pay'), merchant_id: newId('mer'), network, amount: '10.5' },
          recipient: addressFromHex(network === 'tron' ? 'tron' : 'evm', wallet),
          created_at: new Date(createdAt).toISOString(),
          expires_at: new Date(createdAt + OPEN_MS).toISOString(),
        };
        const headers = { version, merchant_id: payment.merchant_id };
        const properties = { messageId: newMessageId(), type: name, headers, contentType: 'application/json' };
        const body = Buffer.from(JSON.stringify(payment));
        return { exchange: EXCHANGE, routingKey: name, body, properties: { ...properties, persistent: true } };
      }),
    );
    if (outcomes.some((outcome) => outcome !== 'confirmed')) throw new Error('RabbitMQ did not take every order');
  } finally {
    await broker.close();
  }
}
