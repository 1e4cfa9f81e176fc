import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../../support/database.ts';

/** The schemas of the services that consume PaymentCreated. */
const consumers = ['chain', 'quota'];

/**
 * Waits until the messages of these creations have taken effect everywhere and every outbox is empty, so that they don't slow the next run.
 * @param since the database's clock before the first creation.
 */
export async function waitUntilHandled(postgresUrl: string, since: Date, created: number): Promise<void> {
  const handledBy = consumers.map(
    (schema) =>
      `(select count(*) from ${schema}.inbox where received_at >= $1 and handler = 'payment-created')::integer as ${schema}`,
  );
  await withDatabase(postgresUrl, (db) =>
    eventually(
      async () => {
        const { rows } = await db.query<Record<string, number>>(
          `select ${handledBy.join(', ')}, (select count(*) from payments.outbox)::integer as waiting`,
          [since],
        );
        const missing = consumers.filter((schema) => rows[0]?.[schema] !== created);
        if (missing.length > 0 || rows[0]?.['waiting'] !== 0) {
          throw new Error(`${created} creations were not handled everywhere: ${JSON.stringify(rows[0])}`);
        }
      },
      { timeoutMs: 600_000, intervalMs: 100 },
    ),
  );
}

export const databaseClock = (postgresUrl: string): Promise<Date> =>
  withDatabase(postgresUrl, async (db) => {
    const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now');
    return rows[0]?.now ?? new Date();
  });
