import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Change } from './merchant.ts';

/** @returns null for an unknown merchant. */
export async function findDisplayName(
  db: Queryable,
  merchantId: string,
): Promise<{ display_name: string | null } | null> {
  const { rows } = await db.query<{ display_name: string | null }>(
    'select display_name from merchant where merchant_id = $1',
    [merchantId],
  );
  return rows[0] ?? null;
}

/** In the order of the ids; null where there is none. */
export async function readDisplayNames(db: Queryable, merchantIds: readonly string[]): Promise<(string | null)[]> {
  const { rows } = await db.query<{ display_name: string | null }>({
    name: 'read-display-names',
    text: `select m.display_name from unnest($1::text[]) with ordinality as a (merchant_id, position)
           left join merchant m using (merchant_id) order by position`,
    values: [merchantIds],
  });
  return rows.map((row) => row.display_name);
}

/** @returns null when the merchant is unknown or already has this name. */
export async function setDisplayName(
  tx: Queryable,
  merchantId: string,
  displayName: string | null,
): Promise<Change | null> {
  const { rows } = await tx.query<{ before: string | null }>(
    `update merchant m set display_name = $2
     from (select merchant_id, display_name from merchant where merchant_id = $1 for no key update) found
     where m.merchant_id = found.merchant_id and found.display_name is distinct from $2
     returning found.display_name as before`,
    [merchantId, displayName],
  );
  const row = rows[0];
  return row === undefined ? null : { before: { display_name: row.before }, after: { display_name: displayName } };
}
