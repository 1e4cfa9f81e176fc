import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { parsePrismaSchema } from './prisma-parse.ts';
import type { PrismaColumn, PrismaTable } from './prisma-parse.ts';

/** A service's schema.prisma, and the schema of a migrated database to compare it with. */
export type PrismaComparison = {
  /** Path or file URL of schema.prisma. */
  schemaFile: string | URL;
  /** The URL of a role that owns (or at least may read) the schema. */
  url: string;
  /** The PostgreSQL schema with the models' tables, for example `quota`. */
  schema: string;
};

/**
 * Compares schema.prisma with the migrated database, because the SQL migrations define the schema and Prisma only
 * describes it. For every model: the table exists, both sides have the same columns with the same type and nullability,
 * and Prisma's ids and unique fields are unique in the database. Tables without a model (outbox, inbox, the migrations'
 * ledger) are ignored.
 * @throws Error listing every difference, one per line.
 */
export async function expectPrismaMatchesDatabase(comparison: PrismaComparison): Promise<void> {
  const differences = await prismaDifferences(comparison);
  if (differences.length > 0) {
    throw new Error(`schema.prisma and schema "${comparison.schema}" differ:\n${differences.join('\n')}`);
  }
}

/** Like `expectPrismaMatchesDatabase`, but returns the differences. Empty when both agree. */
export async function prismaDifferences({ schemaFile, url, schema }: PrismaComparison): Promise<string[]> {
  const tables = parsePrismaSchema(await readFile(schemaFile, 'utf8'));
  if (tables.length === 0) return ['schema.prisma has no model'];
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const columns = await client.query<DatabaseColumn>(selectColumns, [schema]);
    const keys = await client.query<DatabaseKey>(selectUniqueKeys, [schema]);
    return tables.flatMap((table) => tableDifferences(table, columns.rows, keys.rows));
  } finally {
    await client.end();
  }
}

type DatabaseColumn = { table: string; column: string; type: string; nullable: boolean };
type DatabaseKey = { table: string; columns: string[] };

const selectColumns = `
  select table_name as "table", column_name as "column", is_nullable = 'YES' as nullable,
         case data_type when 'ARRAY' then substr(udt_name, 2) || '[]' else udt_name end as type
    from information_schema.columns
   where table_schema = $1`;

// Partial unique indexes are left out: they guarantee uniqueness only for some rows, which is less than Prisma assumes.
const selectUniqueKeys = `
  select t.relname as "table",
         array(select a.attname::text from unnest(i.indkey::int2[]) with ordinality k(attnum, position)
                 join pg_attribute a on a.attrelid = t.oid and a.attnum = k.attnum
                where k.position <= i.indnkeyatts order by a.attname::text) as columns
    from pg_index i join pg_class t on t.oid = i.indrelid join pg_namespace n on n.oid = t.relnamespace
   where n.nspname = $1 and i.indisunique and i.indpred is null`;

function tableDifferences(model: PrismaTable, allColumns: DatabaseColumn[], allKeys: DatabaseKey[]): string[] {
  const columns = allColumns.filter(({ table }) => table === model.table);
  if (columns.length === 0) return [`${model.table}: the database has no such table`];
  const known = new Set(model.columns.map(({ column }) => column));
  const keys = new Set(allKeys.filter(({ table }) => table === model.table).map((key) => key.columns.join(', ')));
  return [
    ...model.columns.flatMap((expected) => columnDifferences(model.table, expected, columns)),
    ...columns
      .filter(({ column }) => !known.has(column))
      .map(({ column }) => `${model.table}.${column}: only in the database`),
    ...model.uniqueKeys
      .map((key) => key.toSorted().join(', '))
      .filter((key) => !keys.has(key))
      .map((key) => `${model.table}: the database has no unique key (${key})`),
  ];
}

function columnDifferences(table: string, expected: PrismaColumn, columns: DatabaseColumn[]): string[] {
  const name = `${table}.${expected.column}`;
  const found = columns.find(({ column }) => column === expected.column);
  if (found === undefined) return [`${name}: only in schema.prisma`];
  const differences: string[] = [];
  if (found.type !== expected.type) {
    differences.push(`${name}: ${expected.type} in schema.prisma, ${found.type} in the database`);
  }
  // Prisma has no optional lists, so an array column says nothing about nullability.
  if (!expected.type.endsWith('[]') && found.nullable !== expected.nullable) {
    differences.push(`${name}: ${words(expected.nullable)} in schema.prisma, ${words(found.nullable)} in the database`);
  }
  return differences;
}

const words = (nullable: boolean): string => (nullable ? 'optional' : 'required');
