import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../../support/database.ts';

/** Rows that PostgreSQL counted for each table, in all committed transactions. */
export type Written = Record<string, { inserted: number; updated: number; deleted: number }>;

/**
 * The rows that `run` wrote into the tables of payments, by table. Nothing may be created in the ten seconds before, because sessions
 * report their counts that late.
 * @param run returns how many payments it created; the result is complete when all of them are reported.
 */
export async function countWritten(adminUrl: string, run: () => Promise<number>): Promise<Written> {
  return withDatabase(adminUrl, async (db) => {
    const read = async (): Promise<Written> => {
      const { rows } = await db.query<{ relname: string } & Written[string]>(
        `select relname, n_tup_ins::integer as inserted, n_tup_upd::integer as updated, n_tup_del::integer as deleted
           from pg_stat_user_tables where schemaname = 'payments'`,
      );
      return Object.fromEntries(rows.map(({ relname, ...counts }) => [relname, counts]));
    };
    const before = await read();
    const created = await run();
    return eventually(
      async () => {
        const written = difference(await read(), before);
        const counted = written['payment']?.inserted;
        if (counted !== created) throw new Error(`${created} payments were created, ${counted ?? 0} are counted`);
        return written;
      },
      { timeoutMs: 120_000, intervalMs: 250 },
    );
  });
}

/**
 * Writes of the relay, which pgbench does not have: it moves each row of the outbox to the sent messages. A creation itself only inserts
 * into the outbox.
 */
const isOfRelay = (kind: string, table: string): boolean =>
  table === 'sent_message' || (table === 'outbox' && kind !== 'inserted');
/** Rows for one creation. New wallets come at fixed intervals, and a run may end within one. */
const TOLERANCE = 0.02;

/** @throws Error naming every table with different writes for one creation. */
export function requireSameWrites(creations: number, ours: Written, theirs: Written): void {
  const differences = Object.keys({ ...ours, ...theirs }).flatMap((table) =>
    (['inserted', 'updated', 'deleted'] as const)
      .filter((kind) => !isOfRelay(kind, table))
      .map((kind) => ({
        what: `${kind} in ${table}`,
        ours: ours[table]?.[kind] ?? 0,
        theirs: theirs[table]?.[kind] ?? 0,
      }))
      .filter((counts) => Math.abs(counts.ours - counts.theirs) > TOLERANCE * creations)
      .map((counts) => `${counts.what}: ${counts.ours} and ${counts.theirs}`),
  );
  if (differences.length > 0) {
    throw new Error(`payments and pgbench do not write the same for ${creations} creations: ${differences.join('; ')}`);
  }
}

function difference(after: Written, before: Written): Written {
  const tables = Object.entries(after).map(([table, counts]) => {
    const earlier = before[table] ?? { inserted: 0, updated: 0, deleted: 0 };
    return [
      table,
      {
        inserted: counts.inserted - earlier.inserted,
        updated: counts.updated - earlier.updated,
        deleted: counts.deleted - earlier.deleted,
      },
    ] as const;
  });
  return Object.fromEntries(tables);
}
