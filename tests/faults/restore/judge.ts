import { eventually } from '@quittance/testkit/eventually.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { findViolations } from '../../../services/payments/test/invariants.ts';
import { withDatabase } from '../../support/database.ts';
import type { Order } from './ledger.ts';

const count = async (db: Queryable, text: string, values: unknown[] = []): Promise<number> =>
  (await db.query<{ count: number }>(text, values)).rows[0]!.count;

/** PAID payments without an event: their message is lost. */
export const countUnheard = (url: string): Promise<number> =>
  withDatabase(url, (db) =>
    count(
      db,
      `select count(*)::int from payments.payment p
        where p.status = 'PAID' and not exists (select from webhooks.event e where e.payment_id = p.payment_id)`,
    ),
  );

/** Open payments whose wallet is not watched: their message is lost. */
export const countUnwatched = (url: string): Promise<number> =>
  withDatabase(url, (db) =>
    count(
      db,
      `select count(*)::int from payments.payment p
        where p.status in ('PENDING', 'CHECKING') and not exists (
          select from chain.watch w where w.network = p.network and w.address = decode(substr(p.recipient, 3), 'hex'))`,
    ),
  );

/** Publishes everything again from all five schemas, as docs/backup.md says. @returns the number of messages. */
export const replayMessages = (url: string, since: string): Promise<number> =>
  withDatabase(url, async (db) => {
    let replayed = 0;
    for (const schema of ['gateway', 'payments', 'chain', 'webhooks', 'quota'])
      replayed += await count(db, `select ${schema}.replay_messages($1::timestamptz)::int as count`, [since]);
    return replayed;
  });

/**
 * What must hold once everything has settled.
 * @param known payments whose 201 was answered before the restored point in time.
 */
export async function violations(url: string, known: readonly Order[]): Promise<string[]> {
  return withDatabase(url, async (db) => {
    await db.query('set search_path = payments');
    // The relay has published everything, and keeps what it published.
    await eventually(
      async () => {
        if ((await count(db, 'select count(*)::int from outbox')) > 0) throw new Error('the outbox is not empty');
      },
      { intervalMs: 250 },
    );
    const received = await db.query<{ message_id: string; name: string; body: string }>(
      'select message_id::text, name, body from sent_message',
    );
    const answered = known.map(({ shop, key, body }) => ({ merchantId: shop.merchantId, idempotencyKey: key, body }));
    return [...(await findViolations(db, { answered, received: received.rows })), ...(await uncounted(db))];
  });
}

/** The history that quota builds from messages: it has each payment once, however often its message was replayed. */
export async function uncounted(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ what: string }>(
    `select format('quota has counted %s payments of %s, which has %s', counted, merchant_id, there) as what
       from (select merchant_id, count(*) as there from payments.payment group by merchant_id) p
       join (select merchant_id, sum(payments_created) as counted from quota.usage_day group by merchant_id) q using (merchant_id)
      where there <> counted`,
  );
  return rows.map(({ what }) => what);
}
