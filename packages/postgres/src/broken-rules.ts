import type { Queryable } from './pool.ts';

/** Enough examples to see what is wrong. */
const EXAMPLES = 20;

/**
 * Finds rows that break rules.
 * @param rules by name. Each is a query that selects each violation as text `what`, and no row when all is well.
 * @param values the parameters of each query.
 * @returns the violations, at most twenty for each rule.
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
