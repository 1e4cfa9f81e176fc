import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { schemas, serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { startPostgres } from '@quittance/local-backends/postgres.ts';
import { readOrMakeSecrets, repositoryRoot, type StackDirectory } from '@quittance/local-stack/stack/directory.ts';
import type { Ports } from '@quittance/local-stack/stack/ports.ts';
import { migrate } from '@quittance/postgres/migrations/migrate.ts';
import { addressOf, prepareServiceDatabases } from '@quittance/postgres/roles/service-databases.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import type pg from 'pg';
import { createKeyVault } from '@quittance/runtime/key-vault.ts';
import { withDatabase } from '../support/database.ts';

const database = 'quittance';

/** A merchant of 0.1.0 with what it had. `name` is put into the rows as :'name'. */
export type OldMerchant = { merchant: string; api_key: string; wallet: string; signing_key: string };

/** Every row of every table, by `schema.table`, as JSON. */
export type Rows = ReadonlyMap<string, Record<string, unknown>[]>;

/** Makes the stack's database as 0.1.0 left it: its tables, which are the baselines, and rows in each. */
export async function prepareFirstRelease(directory: StackDirectory, ports: Ports, old: OldMerchant): Promise<Rows> {
  const secrets = await readOrMakeSecrets(directory);
  await mkdir(directory.logs, { recursive: true });
  const logFile = join(directory.logs, 'postgres-before.log');
  const postgres = await startPostgres({ directory: directory.postgres, port: ports.postgres, logFile });
  try {
    const passwords = Object.fromEntries(serviceNames.map((name) => [name, secrets.database_password]));
    const urls = await prepareServiceDatabases({
      ...{ adminUrl: postgres.url, database, passwords: passwords as Record<ServiceName, string> },
    });
    for (const name of serviceNames) await applyBaselines(name, urls[name]);
    const sealed = createKeyVault(Buffer.from(secrets.webhook_encryption_key, 'base64')).seal('whk_1', old.signing_key);
    const rows = await readFile(new URL('rows-of-0.1.0.sql', import.meta.url), 'utf8');
    const values: Record<string, string> = {
      ...old,
      ...{ sealed: sealed.secret_encrypted.toString('hex'), sealed_with: sealed.encryption_key_id },
    };
    return await withDatabase(addressOf(postgres.url, { database }), async (db) => {
      await db.query(rows.replaceAll(/:'(\w+)'/g, (_, name: string) => db.escapeLiteral(values[name] ?? '')));
      for (const name of serviceNames) await addMessages(db, schemas[name], old.merchant);
      return readRows(db);
    });
  } finally {
    await postgres.stop();
  }
}

async function applyBaselines(name: ServiceName, url: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'quittance-baseline-'));
  try {
    const sources = [
      ['packages/messaging', 'messaging_migrations'],
      [`services/${name}`, 'migrations'],
    ] as const;
    for (const [path, ledger] of sources) {
      await mkdir(join(folder, ledger, 'migrations'), { recursive: true });
      const baseline = join('migrations', '0001_baseline.sql');
      await cp(join(repositoryRoot, path, baseline), join(folder, ledger, baseline));
    }
    const migrations = sources.map(([, ledger]) => ({ directory: join(folder, ledger), ledger, version: '0.1.0' }));
    await migrate({ url, schema: schemas[name], migrations, logger: testLogger });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Rows of messages that were handled and sent long ago; nothing waits to be sent but what nobody subscribes to. */
async function addMessages(db: pg.Client, schema: string, merchant: string): Promise<void> {
  await db.query(`insert into ${schema}.inbox (handler, message_id) values ('old', gen_random_uuid())`);
  await db.query(
    `insert into ${schema}.sent_message values (gen_random_uuid(), 'Old', 1, $1, '{}', 'r', now() - interval '1 hour')`,
    [merchant],
  );
  await db.query(
    `insert into ${schema}.outbox (message_id, name, version, merchant_id, body, request_id, claimed_until)
     values (gen_random_uuid(), 'Old', 1, $1, '{}', 'r', 'infinity')`,
    [merchant],
  );
}

/** @returns the rows of all our tables, except those of the migrations. Partitions are read with their table. */
export async function readRows(db: pg.Client): Promise<Rows> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname not in ('migrations', 'messaging_migrations', 'applied_functions') order by 1`,
    [Object.values(schemas)],
  );
  const all = new Map<string, Record<string, unknown>[]>();
  for (const { name } of tables) {
    const { rows } = await db.query<{ row: Record<string, unknown> }>(`select to_jsonb(t) as row from ${name} t`);
    all.set(
      name,
      rows.map(({ row }) => row),
    );
  }
  return all;
}
