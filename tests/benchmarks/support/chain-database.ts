import { withDatabase } from '../../support/database.ts';
import { NETWORK } from './chain-networks.ts';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.ts';
import { walletAddressSql } from './synthetic-wallets.ts';

/** A database of chain-watcher whose wallets are watched for years. @param wallets how many. */
export async function chainDatabase(adminUrl: string, name: string, wallets: number): Promise<ServiceDatabase> {
  const database = await serviceDatabase({
    ...{ service: 'chain-watcher', adminUrl, database: name, password: 'only for a benchmark' },
  });
  await withDatabase(database.adminUrl, async (db) => {
    await db.query(
      `insert into chain.watch (network, address, merchant_id, watched_from, watched_until, state)
       select $1, ${walletAddressSql}, 'mer_' || lpad(to_hex(number / 20), 32, '0'), '2020-01-01', '2100-01-01', 'watching'
         from generate_series(0, $2 - 1) number`,
      [NETWORK, wallets],
    );
    // With an unfinished payment, the service polls the network often.
    await db.query(
      `insert into chain.unfinished_payment (payment_id, network, created_at) values ('pay_of_the_benchmark', $1, now())`,
      [NETWORK],
    );
    await db.query('vacuum analyze chain.watch');
    await db.query('checkpoint');
  });
  return database;
}
