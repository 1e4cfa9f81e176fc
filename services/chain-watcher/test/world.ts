import { afterAll } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { PaymentClosed, PaymentCreated, TransferObserved } from '@quittance/contracts/messages.ts';
import { on } from '@quittance/messaging/consumer/handler.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { TestBroker } from '@quittance/testkit/broker.ts';
import { testChain, type TestChain } from '@quittance/testkit/chain.ts';
import { testDatabase, type TestDatabase, testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { startNeighbours, type Neighbours } from '@quittance/testkit/neighbours.ts';
import { reusedBrokers } from '@quittance/testkit/reused-broker.ts';
import { migrations, schema } from '../src/migrations.ts';
import { startWatcher, type RunningWatcher, type WatcherOptions } from './watcher.ts';

/** A chain, a database, a broker, and a consumer that receives what payments would receive. */
export type World = {
  chain: TestChain;
  database: TestDatabase;
  broker: TestBroker;
  pool: Pool;
  /** Every TransferObserved, in the order of arrival. */
  received: TransferObserved[];
  /** Starts one replica of the service in this process. It is closed with the world. */
  watch(options?: Partial<WatcherOptions>): RunningWatcher;
  /** Publishes PaymentCreated, as payments would. */
  publishPaymentCreated(payment: Partial<PaymentCreated> & { recipient: string }): Promise<PaymentCreated>;
  publishPaymentClosed(payment: PaymentCreated, closedAt: Date): Promise<void>;
  /** Publishes any message as its owning service would. */
  publish: Neighbours['publish'];
  close(): Promise<void>;
};

const brokers = reusedBrokers();
afterAll(brokers.close);

export async function startWorld(chainOptions: Parameters<typeof testChain>[0] = {}): Promise<World> {
  const [chain, database, broker] = await Promise.all([
    testChain({ slotsInAnEpoch: 32, ...chainOptions }),
    testDatabase({ schema, migrations }),
    brokers.open(),
  ]);
  const pool = testPool({ url: database.url, schema, max: 5 });
  const received: TransferObserved[] = [];
  // After the commit. Until then, the message may come again.
  const receiveTransfer = on(TransferObserved, 'transfer-observed', async (message, { tx }) =>
    tx.afterCommit(() => void received.push(message)),
  );
  const neighbours = await startNeighbours({ amqpUrl: broker.url, consumes: { payments: [receiveTransfer] } });
  const watchers: RunningWatcher[] = [];

  return {
    chain,
    database,
    broker,
    pool,
    received,
    watch(options = {}) {
      const watcher = startWatcher({ chain, databaseUrl: database.url, amqpUrl: broker.url, ...options });
      watchers.push(watcher);
      return watcher;
    },
    async publishPaymentCreated(changes) {
      const payment = samplePayment(changes);
      await neighbours.publish(PaymentCreated, payment);
      return payment;
    },
    async publishPaymentClosed({ payment_id, merchant_id, network, recipient }, closedAt) {
      const closed = { payment_id, merchant_id, network, recipient, closed_at: closedAt.toISOString() };
      await neighbours.publish(PaymentClosed, { ...closed, status: 'EXPIRED' });
    },
    publish: neighbours.publish,
    async close() {
      for (const watcher of watchers) await watcher.close();
      await neighbours.stop();
      await pool.end();
      await Promise.all([chain.close(), database.drop(), broker.close()]);
    },
  };
}

/** Waits until the wallet is watched and its back-fill is complete. */
export async function untilWatched({ pool }: World, wallet: string): Promise<void> {
  await eventually(async () => {
    const address = Buffer.from(wallet.slice(2), 'hex');
    const { rows } = await pool.query<{ state: string }>('select state from watch where address = $1', [address]);
    if (rows[0]?.state !== 'watching') throw new Error(`the wallet is ${rows[0]?.state ?? 'unknown'}`);
  });
}

/** Waits until exactly these phases have been received for transfers to this wallet. */
export async function untilReceived(
  { received }: World,
  wallet: string,
  phases: string[],
): Promise<TransferObserved[]> {
  return eventually(() => {
    const messages = received.filter(({ to }) => to === wallet).sort((a, b) => a.version - b.version);
    const found = messages.map(({ phase }) => phase);
    if (found.join() !== phases.join()) throw new Error(`received ${found.join()} instead of ${phases.join()}`);
    return messages;
  });
}

/** Waits until the replicas have scanned the chain's present head. */
export async function untilScanned({ pool, chain }: World): Promise<void> {
  const { hash } = await chain.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false]);
  await eventually(async () => {
    const { rows } = await pool.query<{ hash: Buffer | null }>('select hash from cursor where network = $1', ['local']);
    if (rows[0]?.hash?.toString('hex') !== hash.slice(2)) throw new Error('the cursor is elsewhere');
  });
}

function samplePayment(changes: Partial<PaymentCreated> & { recipient: string }): PaymentCreated {
  return {
    payment_id: newId('pay'),
    merchant_id: newId('mer'),
    network: 'local',
    amount: '10.5',
    created_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 1_800_000).toISOString(),
    ...changes,
  };
}
