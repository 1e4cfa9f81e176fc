import type { Pool } from '@quittance/postgres/pool.ts';

/** The database's clock, which does not move until it is set: statements, functions and triggers of these connections see it. */
export type Clock = { set(moment: number): Promise<void> };

const names = ['now', 'transaction_timestamp', 'statement_timestamp', 'clock_timestamp'];

/**
 * The address of a database for connections whose clock can be set. PostgreSQL looks for functions in the order of the search path, and in
 * pg_catalog first only when the path does not name it.
 */
export function steerable(url: string, schema: string): string {
  const address = new URL(url);
  // Options of the address take precedence over those of the pool.
  address.searchParams.set('options', `-c search_path=${schema},pg_catalog`);
  return address.href;
}

/**
 * Puts functions before PostgreSQL's own that read the time from a table. Only for a database of this test.
 * @param pool made with a steerable() address, as the schema's owner.
 * @throws when the connections of this pool still see another time.
 */
export async function takeClock(pool: Pool, schema: string): Promise<Clock> {
  await pool.query(`create table ${schema}.clock (moment timestamptz not null)`);
  await pool.query(`insert into ${schema}.clock values ('2000-01-01T00:00:00Z')`);
  for (const name of names) {
    await pool.query(`create function ${schema}.${name}() returns timestamptz language sql stable
                      as 'select moment from ${schema}.clock'`);
  }
  const { rows } = await pool.query<Record<string, Date>>(`select ${names.map((name) => `${name}()`).join(', ')}`);
  for (const [name, moment] of Object.entries(rows[0] ?? {})) {
    if (moment.getUTCFullYear() !== 2000) throw new Error(`${name}() still tells the real time`);
  }
  return {
    async set(moment) {
      await pool.query(`update ${schema}.clock set moment = $1`, [new Date(moment)]);
    },
  };
}
