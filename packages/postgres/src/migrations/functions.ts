import type pg from 'pg';

import { functionFiles, type FunctionFile, type MigrationSource } from './source.ts';

/** The table that records the text of each function in the schema, and its release. */
const LEDGER = 'applied_functions';

/**
 * Applies the functions whose text changed, in one transaction. Their files may refer to each other in any order. A
 * function that a later release applied is kept, so that going back to an earlier release doesn't break processes that
 * are still running. A function whose file is gone is kept too, until a migration drops it.
 * @returns the names of the applied functions.
 * @throws when a file fails or doesn't define its function. All functions of the source are then unchanged.
 */
export async function applyFunctions(client: pg.Client, schema: string, source: MigrationSource): Promise<string[]> {
  const outdated = await outdatedFunctions(client, schema, source);
  if (outdated.length === 0) return [];
  await client.query('begin');
  try {
    await client.query(`set local search_path = ${client.escapeIdentifier(schema)}`);
    // A body may call a function of a later file, so bodies are checked once all exist.
    await client.query('set local check_function_bodies = off');
    for (const { sql } of outdated) await client.query(sql);
    await client.query('set local check_function_bodies = on');
    await checkDefinitions(client, outdated, schema);
    await record(client, outdated, source.version);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
  return outdated.map(({ name }) => name);
}

/** The functions that the schema has neither with this text nor from a later release. */
export async function outdatedFunctions(
  client: pg.Client,
  schema: string,
  source: MigrationSource,
): Promise<FunctionFile[]> {
  const files = await functionFiles(source);
  const ledger = `${client.escapeIdentifier(schema)}.${LEDGER}`;
  if (files.length === 0 || !(await tableExists(client, ledger))) return files;
  const { rows } = await client.query<{ name: string }>(
    `select wanted.name
       from unnest($1::text[], $2::text[]) as wanted (name, sha256)
       left join ${ledger} applied using (name)
      where applied.sha256 is distinct from wanted.sha256
        and coalesce(applied.version <= string_to_array($3, '.')::integer[], true)`,
    [files.map(({ name }) => name), files.map(({ sha256 }) => sha256), source.version],
  );
  const names = new Set(rows.map(({ name }) => name));
  return files.filter(({ name }) => names.has(name));
}

/** @param table qualified and escaped. */
export async function tableExists(client: pg.Client, table: string): Promise<boolean> {
  const { rowCount } = await client.query('select where to_regclass($1) is not null', [table]);
  return rowCount === 1;
}

/** Checks the bodies of the functions that this transaction wrote, as `create function` does by default. */
async function checkDefinitions(client: pg.Client, files: FunctionFile[], schema: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select proname as name,
            case lanname when 'sql' then fmgr_sql_validator(pg_proc.oid)
                         when 'plpgsql' then plpgsql_validator(pg_proc.oid) end
       from pg_proc join pg_language on pg_language.oid = prolang
      where pronamespace = (select oid from pg_namespace where nspname = $1)
        and pg_proc.xmin = pg_current_xact_id()::xid`,
    [schema],
  );
  const defined = new Set(rows.map(({ name }) => name));
  const missing = files.find(({ name }) => !defined.has(name));
  if (missing)
    throw new Error(`sql/${missing.name}.sql does not define a function ${missing.name} in schema ${schema}`);
}

async function record(client: pg.Client, files: FunctionFile[], version: string): Promise<void> {
  await client.query(
    `create table if not exists ${LEDGER} (
       name text primary key, sha256 text not null, version integer[] not null, applied_at timestamptz not null
     )`,
  );
  await client.query(
    `insert into ${LEDGER} (name, sha256, version, applied_at)
     select name, sha256, string_to_array($3, '.')::integer[], now()
       from unnest($1::text[], $2::text[]) as applied (name, sha256)
     on conflict (name) do update
       set sha256 = excluded.sha256, version = excluded.version, applied_at = excluded.applied_at`,
    [files.map(({ name }) => name), files.map(({ sha256 }) => sha256), version],
  );
}
