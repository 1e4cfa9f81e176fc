import type { Author } from '@quittance/contracts/author.ts';
import type { Queryable } from './pool.ts';

/**
 * Reads and resolves a service's `incident` table, whatever its incidents are about.
 * @param columns the columns to read.
 */
export const incidentTable = <Row extends object>(columns: string) => ({
  /**
   * @param list.before the last incident of the previous page, or null for the first page.
   * @returns at most `limit`, newest first; none if `before` doesn't exist.
   */
  async read(db: Queryable, list: { status: 'open' | 'all'; before: string | null; limit: number }): Promise<Row[]> {
    const { rows } = await db.query<Row>(
      `select ${columns} from incident
        where ${list.status === 'open' ? 'resolved_at is null' : 'true'}
          and ($1::uuid is null or (opened_at, incident_id) < (select opened_at, incident_id from incident where incident_id = $1))
        order by opened_at desc, incident_id desc limit $2`,
      [list.before, list.limit],
    );
    return rows;
  },

  /**
   * Resolves an incident. Resolving it again keeps the first author and reason.
   * @returns the incident, or null when there is none with this id (a UUID).
   */
  async resolve(db: Queryable, incidentId: string, author: Author): Promise<Row | null> {
    const { rows } = await db.query<Row>(
      `update incident
          set resolved_at = coalesce(resolved_at, clock_timestamp()), resolved_by = coalesce(resolved_by, $2),
              resolved_reason = coalesce(resolved_reason, $3)
        where incident_id = $1
        returning ${columns}`,
      [incidentId, author.actor, author.reason],
    );
    return rows[0] ?? null;
  },
});
