import { randomUUID } from 'node:crypto';
import { newId } from '@quittance/contracts/ids.ts';
import { AccessChanged, MerchantRegistered, type MessageDefinition } from '@quittance/contracts/messages.ts';
import { on } from '@quittance/messaging/consumer/handler.ts';
import { testBroker } from '@quittance/testkit/broker.ts';
import { testDatabase, testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { startNeighbours } from '@quittance/testkit/neighbours.ts';
import { startServiceProcess } from '@quittance/testkit/service-process.ts';
import { migrations, schema } from '../src/migrations.ts';

const internalToken = 'a-token-for-tests-of-the-quota-service';

export type Answer = { status: number; body: unknown };

/** quota as a separate process, and its neighbours: the sender of its messages and the receiver of those it publishes. */
export async function startWorld() {
  const broker = await testBroker();
  const database = await testDatabase({ schema, migrations });
  const service = await startServiceProcess(new URL('../src/main.ts', import.meta.url), {
    DATABASE_URL: database.url,
    AMQP_URL: broker.url,
    INTERNAL_TOKEN: internalToken,
  });
  const received: AccessChanged[] = [];
  const receivePolicy = on(AccessChanged, 'access-changed', async (message) => void received.push(message));
  const neighbours = await startNeighbours({ amqpUrl: broker.url, consumes: { payments: [receivePolicy] } });
  const pool = testPool({ url: database.url, schema, max: 2 });

  async function call(method: 'GET' | 'POST', path: string, body?: object, token = internalToken): Promise<Answer> {
    const response = await fetch(`${service.url}/internal/v1${path}`, {
      method,
      headers: { 'x-internal-token': token, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  return {
    databaseUrl: database.url,
    call,
    /** An operator's change, with an author. */
    change: (merchantId: string, action: string, fields: object = {}) =>
      call('POST', `/merchants/${merchantId}/${action}`, { actor: 'olga', reason: 'test', ...fields }),
    publish: neighbours.publish,
    publishAll: neighbours.publishAll,
    /** The number of transactions in which a handler's messages took effect. */
    async transactionsOf(handler: string): Promise<number> {
      const { rows } = await pool.query<{ count: number }>(
        'select count(distinct received_at)::int as count from inbox where handler = $1',
        [handler],
      );
      return rows[0]!.count;
    },
    /** As `say`, but waits until quota has handled the message, with any result. */
    async sayUntilTaken<T extends { merchant_id: string }>(message: MessageDefinition<T>, payload: T): Promise<void> {
      const messageId = randomUUID();
      await neighbours.publish(message, payload, messageId);
      await eventually(async () => {
        const { rowCount } = await pool.query('select from inbox where message_id = $1', [messageId]);
        if (rowCount === 0) throw new Error(`${message.name} was not taken`);
      });
    },
    /** AccessChanged as payments receives it, in any order. */
    received: (merchantId: string) => received.filter((message) => message.merchant_id === merchantId),
    /** Registers a merchant and waits until quota knows it. */
    async register(over: Partial<MerchantRegistered> = {}): Promise<string> {
      const merchant: MerchantRegistered = {
        merchant_id: newId('mer'),
        name: 'Shop',
        access_type: 'beta',
        total_limit: 100,
        daily_limit: 10,
        beta_duration_days: 30,
        registered_at: '2026-01-31T12:00:00.000Z',
        ...over,
      };
      await neighbours.publish(MerchantRegistered, merchant);
      await eventually(async () => {
        const { status } = await call('GET', `/merchants/${merchant.merchant_id}/policy`);
        if (status !== 200) throw new Error(`policy answers ${status}`);
      });
      return merchant.merchant_id;
    },
    async stop() {
      await service.stop();
      await neighbours.stop();
      await pool.end();
      await database.drop();
      await broker.close();
    },
  };
}
