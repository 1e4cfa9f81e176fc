import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { createOutbox, type Outbox } from '@quittance/messaging/outbox/outbox.ts';
import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { testDatabase } from '@quittance/testkit/database.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { migrations, schema } from '../../src/migrations.ts';
import { type Clock, steerable, takeClock } from './clock.ts';
import { createStatementScheduler, type StatementScheduler } from './statement-scheduler.ts';

/** What all runs share: one database, two replicas' connections to it, and its clock. Each run has its own merchants. */
export type SharedDatabase = {
  /** One for each replica. */
  pools: readonly [Pool, Pool];
  /** For the test itself. */
  db: Pool;
  clock: Clock;
  scheduler: StatementScheduler;
  outbox: Outbox;
  publicBaseUrl: string;
  /** Deadlocks that PostgreSQL has resolved by ending a transaction. */
  deadlocks(): Promise<bigint>;
  close(): Promise<void>;
};

/** Nothing listens there: the broker is down all the time, and messages stay in the outbox, where they can be read. */
const NO_BROKER = 'amqp://model:model@127.0.0.1:1/';

export async function openSharedDatabase(): Promise<SharedDatabase> {
  const database = await testDatabase({ schema, migrations });
  const url = steerable(database.url, schema);
  const poolNamed = (applicationName: string, max: number): Pool =>
    createPool({ url, schema, max, logger: testLogger, applicationName });
  const pools = [poolNamed('replica 1', 6), poolNamed('replica 2', 6)] as const;
  const db = poolNamed('model', 2);
  const broker = connectBroker({ url: NO_BROKER, name: 'payments', logger: testLogger, metrics: testMetrics });
  const outbox = createOutbox({ pool: db, broker, signer: null, logger: testLogger, metrics: testMetrics });
  const publicBaseUrl = 'https://pay.example';
  await fill(db);
  return {
    pools,
    db,
    outbox,
    publicBaseUrl,
    clock: await takeClock(db, schema),
    scheduler: createStatementScheduler(pools, db),
    async deadlocks() {
      const { rows } = await db.query<{ deadlocks: bigint }>(
        'select deadlocks from pg_stat_database where datname = current_database()',
      );
      return rows[0]?.deadlocks ?? 0n;
    },
    async close() {
      await outbox.close();
      await broker.close();
      await Promise.all([...pools, db].map((pool) => pool.end()));
      await database.drop();
    },
  };
}

/**
 * Other merchants' payments, which no run changes. On nearly empty tables PostgreSQL scans everything and uses plans that differ from
 * production; and what a statement sees of a row that another one is changing depends on its plan.
 */
async function fill(db: Pool): Promise<void> {
  // In steps that end within a statement's time limit on a busy machine.
  for (let from = 1; from <= 20_000; from += 2_000)
    await db.query(
      `insert into payment (payment_id, merchant_id, public_token, token_sha256, network, recipient, amount, amount_units, description,
                            created_at, expires_at, expiry_check_at)
       select 'pay_' || md5('payment ' || n), 'mer_' || md5('merchant ' || n % 50), md5('token ' || n), decode(md5('token ' || n), 'hex'),
              'elsewhere', '0x' || md5('wallet ' || n), '7', 7000000, 'Two tickets', now(), now() + interval '1 hour', now()
         from generate_series($1::integer, $1 + 1999) as n`,
      [from],
    );
  await db.query(
    `insert into transfer (network, transaction_id, transaction_event_index, version, phase, merchant_id, block_number, block_hash,
                           block_timestamp, sender, recipient, amount_units, decimals, confirmations, confirmations_required, observed_at)
     select 'elsewhere', md5('transaction ' || n), 0, 1, 'seen', 'mer_' || md5('merchant ' || n % 50), n, md5('block ' || n), now(),
            '0x' || md5('sender ' || n), '0x' || md5('wallet ' || n), 7000000, 6, 1, 2, now()
       from generate_series(1, 5000) as n`,
  );
  await db.query('analyze payment');
  await db.query('analyze transfer');
}
