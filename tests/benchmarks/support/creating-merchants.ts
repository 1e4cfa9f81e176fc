import { addressFromHex } from '@quittance/contracts/address.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { withDatabase } from '../../support/database.ts';

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
    wallet: addressFromHex('evm', `0x${sha256(`wallet ${number}`).toString('hex').slice(0, 40)}`),
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
