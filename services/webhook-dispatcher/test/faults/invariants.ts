import { findBroken } from '@quittance/postgres/broken-rules.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { eventRules } from '../../src/store/check.ts';

/**
 * Looks for what must never be in the dispatcher's rows, whatever was killed, frozen, repeated or raced: at any moment at which no
 * transaction is under way.
 * I7 one event, whose id and bytes are what it says · I8 nothing pends without a due time that its lane knows of, and a success is a
 * fact · I12 no replaced key signs · I13 a manual retry and its audit row exist together.
 * @param db on the search path of the webhooks schema.
 * @returns a line for each violation; none when all is well.
 */
export async function findViolations(db: Queryable): Promise<string[]> {
  const found = await findBroken(
    db,
    eventRules(() => 'true'),
    [],
  );
  return found.map(({ rule, what }) => `${rule}: ${what}`);
}
