import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createClient } from '@quittance/sdk';
import { addressOf, createDatabase, withClient } from '@quittance/postgres/roles/service-databases.ts';
import { createApp } from '../src/app.ts';
import { openDatabase, type Database } from '../src/database.ts';
import type { Config } from '../src/config.ts';
import { createOrder, type Order } from '../src/orders.ts';

/** The newest first. */
export const keys = ['whk_new', 'whk_old'].map((id) => ({ id, key: `whsec_${randomBytes(24).toString('hex')}` }));
export const adminPassword = 'correct horse';

export type OpenShop = {
  url: string;
  db: Database;
  /** The lines that it logged. */
  lines: string[];
  order(): Promise<Order>;
  /** @returns the status of the answer. */
  send(event: object, change?: { key?: string; keyId?: string }): Promise<number>;
  /** The orders to ship. */
  shipped(): Promise<string[]>;
  close(): Promise<void>;
};

/**
 * The shop on its own database.
 * @param quittanceUrl By default none answers: the use of a real one is tested on a whole stack.
 */
export async function openShop(
  quittanceUrl = 'http://127.0.0.1:1',
  currency: Config['currency'] = 'USDT',
): Promise<OpenShop> {
  const server = process.env['TEST_POSTGRES_URL'] ?? '';
  const database = `shop_${randomBytes(6).toString('hex')}`;
  await createDatabase(server, database);
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const db = await openDatabase(addressOf(server, { database }), log);
  const config: Config = {
    ...{ port: 0, host: '127.0.0.1', databaseUrl: '', shopUrl: 'http://shop.example' },
    ...{ quittanceUrl, apiKey: 'qk_1', walletPool: 'shop', currency },
    signingKeys: Object.fromEntries(keys.map(({ id, key }) => [id, key])),
    ...{ adminPassword, reconcileSeconds: 30, trustedProxies: ['loopback'] },
  };
  const quittance = createClient({ baseUrl: config.quittanceUrl, apiKey: config.apiKey, maxRetries: 0 });
  const listening = createApp({ config, db, quittance, log }).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  return {
    ...{ url, db, lines },
    order: () => createOrder(db, { id: 'cup', name: 'Tea bowl', about: '', price: '12.50' }, currency),
    send: (event, change) => send(`${url}/webhook`, event, change),
    shipped: async () => (await db.query<Order>('select order_id from shipment')).rows.map((row) => row.order_id),
    close: async () => {
      listening.closeAllConnections();
      listening.close();
      await db.end();
      await withClient(server, (client) => client.query(`drop database ${database} with (force)`));
    },
  };
}

/** The event of a PAID payment of this order. */
export const paidEvent = ({ order_id }: Order, change: object = {}) => ({
  event_id: `evt_${randomUUID()}`,
  payment_id: `pay_${randomUUID().replaceAll('-', '')}`,
  status: 'PAID',
  ...{ expected_amount: '12.50', received_amount: '12.5', order_id },
  ...{ transaction_id: 'ab'.repeat(32), transaction_event_index: 0, description: 'Tea bowl' },
  ...change,
});

async function send(url: string, event: object, { key = keys[0]!.key, keyId = keys[0]!.id } = {}): Promise<number> {
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Service-Timestamp': timestamp,
      'X-Service-Signature': `v1=${createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex')}`,
      'X-Service-Event-ID': (event as { event_id: string }).event_id,
      'X-Service-Key-ID': keyId,
    },
    body,
  });
  return answer.status;
}
