import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sha256 } from '@quittance/contracts/ids.ts';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import { testDatabase, type TestDatabase, testPool } from '@quittance/testkit/database.ts';
import { migrations, schema } from '../src/migrations.ts';
import { admitCallers } from '../src/limits/admission.sql.ts';

const MERCHANTS = 3_000;

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  pool = testPool({ url: database.url, schema, max: 1 });
  await pool.query(
    `with added as (
       insert into merchant (merchant_id, name)
       select 'mer_' || lpad(to_hex(n), 32, '0'), 'Shop' from generate_series(1, ${MERCHANTS}) n returning merchant_id
     ), keyed as (
       insert into api_key (key_hash, merchant_id) select sha256(merchant_id::bytea), merchant_id from added
     )
     insert into additional_api_key (key_hash, merchant_id, name, scope)
     select sha256(('second ' || merchant_id)::bytea), merchant_id, 'second', 'read' from added`,
  );
  await pool.query('analyze');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

type Node = { 'Relation Name'?: string; 'Actual Rows': number; 'Actual Loops': number; Plans?: Node[] };

const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

test('admission reads the rows of its own keys, however many keys there are', async () => {
  let plan: Node | undefined;
  const explaining = {
    query: async ({ text, values }: { text: string; values: unknown[] }) => {
      const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
        `explain (analyze, format json) ${text}`,
        values,
      );
      plan = rows[0]!['QUERY PLAN'][0].Plan;
      return { rows: [] };
    },
  } as unknown as Queryable;
  const limit = { scope: 'shared_reads', windowSeconds: 60 };
  // Few keys: with small tables, a scan would be the cheapest plan for many.
  const keys = Array.from({ length: 3 }, (_, n) => `mer_${(n + 1).toString(16).padStart(32, '0')}`);
  await admitCallers(
    explaining,
    keys.map((key) => ({ keyHash: sha256(key), scope: 'read', limit, requests: 1 })),
  );
  const read = nodesOf(plan!)
    .filter((node) => ['api_key', 'additional_api_key', 'merchant'].includes(node['Relation Name'] ?? ''))
    .map((node) => node['Actual Rows'] * node['Actual Loops']);
  expect(read.length).toBeGreaterThanOrEqual(3);
  expect(Math.max(...read)).toBeLessThanOrEqual(keys.length);
});
