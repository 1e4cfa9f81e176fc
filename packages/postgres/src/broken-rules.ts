import type { Queryable } from './pool.ts';

/** Examples that are enough to see what is wrong. */
const EXAMPLES = 20;

/**
 * Looks for rows that break rules.
 * @param rules by name, each a query that selects what is wrong as text `what`, and nothing when all is well.
 * @param values the parameters of each.
 * @returns what is wrong, at most twenty for each rule.
 */
export async function findBroken(
  db: Queryable,
  rules: Readonly<Record<string, string>>,
  values: readonly unknown[],
): Promise<{ rule: string; what: string }[]> {
  const found: { rule: string; what: string }[] = [];
  for (const [rule, text] of Object.entries(rules)) {
    const { rows } = await db.query<{ what: string }>(`select what from (${text}) broken limit ${EXAMPLES}`, [
      ...values,
    ]);
    found.push(...rows.map(({ what }) => ({ rule, what })));
  }
  return found;
}
