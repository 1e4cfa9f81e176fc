import { addressFromHex } from '@quittance/contracts/address.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { withDatabase } from '../../support/database.ts';
import { NETWORK } from './payments-process.ts';

/** Enough that none reaches its 30 creations a minute at any rate of the gateway. */
const MERCHANTS = 4_000;

export type CreatingMerchant = { merchantId: string; apiKey: string; wallet: string };

/**
 * Merchants that may create, in the gateway and in payments, each with its own wallet.
 * @param others merchants other than those of another call on this stack.
 */
export async function seedMerchants(stackPostgresUrl: string, others = false): Promise<CreatingMerchant[]> {
  const numbers = Array.from({ length: MERCHANTS }, (_, number) => number + (others ? MERCHANTS : 0));
  const merchants = numbers.map((number) => ({
    merchantId: merchantIdOf(number),
    apiKey: newSecret('qk'),
    wallet: walletOf(`wallet ${number}`),
  }));
  const ids = merchants.map(({ merchantId }) => merchantId);
  await withDatabase(stackPostgresUrl, async (db) => {
    await db.query(`insert into gateway.merchant (merchant_id, name) select unnest($1::text[]), 'bench'`, [ids]);
    await db.query(
      `insert into gateway.api_key (key_hash, merchant_id) select * from unnest($1::bytea[], $2::text[])`,
      [merchants.map(({ apiKey }) => sha256(apiKey)), ids],
    );
  });
  await seedGates(stackPostgresUrl, merchants);
  return merchants;
}

/** The same merchants for a database without a stack, with the wallets that pgbench's script calculates. */
export async function seedMerchantsOfPgbench(postgresUrl: string): Promise<number> {
  const merchants = await withDatabase(postgresUrl, async (db) => {
    const { rows } = await db.query<{ number: number; wallet: string }>(
      `select m as number, '0x' || md5(m::text) || substr(md5(m::text), 1, 8) as wallet from generate_series(0, $1 - 1) m`,
      [MERCHANTS],
    );
    return rows.map(({ number, wallet }) => ({ merchantId: merchantIdOf(number), wallet }));
  });
  await seedGates(postgresUrl, merchants);
  return merchants.length;
}

/** Their gates and wallets, for a database that has payments' schema. */
async function seedGates(
  postgresUrl: string,
  merchants: readonly { merchantId: string; wallet: string }[],
): Promise<void> {
  const ids = merchants.map(({ merchantId }) => merchantId);
  await withDatabase(postgresUrl, async (db) => {
    await db.query(
      `insert into payments.gate (merchant_id, policy_version, access_type, account_active, creation_paused, total_limit,
                                  package_number, webhook_ok)
       select unnest($1::text[]), 1, 'legacy', true, false, 100000000, 1, true`,
      [ids],
    );
    await db.query(
      `insert into payments.wallet (address, merchant_id, bound_at) select *, now() from unnest($1::text[], $2::text[])`,
      [merchants.map(({ wallet }) => wallet), ids],
    );
    // Only these: every later plan takes a table that was empty at its vacuum for empty.
    await db.query('vacuum analyze payments.gate, payments.wallet');
  });
}

const merchantIdOf = (number: number): string => `mer_${number.toString(16).padStart(32, '0')}`;

export const POOL = 'bench';
/** More than a merchant's creations in all rounds, because each address is given once. */
const ADDRESSES = 60;

/** Gives each merchant a pool of a list. */
export async function seedPools(
  stackPostgresUrl: string,
  merchants: readonly Pick<CreatingMerchant, 'merchantId'>[],
): Promise<void> {
  const ids = merchants.map(({ merchantId }) => merchantId);
  await withDatabase(stackPostgresUrl, async (db) => {
    await db.query(
      `insert into payments.address_source (merchant_id, network, kind, created_at) select unnest($1::text[]), $2, 'list', now()`,
      [ids, NETWORK],
    );
    await db.query(
      `insert into payments.wallet_pool (merchant_id, name, source_id, rest_seconds, created_at)
       select merchant_id, $2, source_id, 3600, now() from payments.address_source where merchant_id = any ($1)`,
      [ids, POOL],
    );
    const { rows } = await db.query<{ source_id: string }>(
      'select source_id from payments.address_source where merchant_id = any ($1)',
      [ids],
    );
    for (const { source_id: source } of rows) {
      const addresses = Array.from({ length: ADDRESSES }, (_, place) => walletOf(`address ${source} ${place}`));
      await db.query(
        `insert into payments.pool_address (source_id, address, place)
         select $1, address, place from unnest($2::text[]) with ordinality as given (address, place)`,
        [source, addresses],
      );
    }
  });
}

const walletOf = (seed: string): string => addressFromHex('evm', `0x${sha256(seed).toString('hex').slice(0, 40)}`);
