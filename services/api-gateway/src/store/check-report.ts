import type { BrokenRuleCount, CheckOutcome } from '@quittance/contracts/http/api-gateway/check-report.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

export type CheckState = {
  /** The end of the last whole check. Before the first one, when this table was made. */
  whole_at: Date;
  /** When a check last could not finish; null while each one could. */
  incomplete_at: Date | null;
  /** What the last whole check found. */
  violations: BrokenRuleCount[];
};

/**
 * Keeps a whole check, unless one that began later is kept already. Whoever checks has its own clock: a time in the future would keep the
 * alert about late checks silent.
 * @returns false where a later one is kept.
 */
export async function keepWholeCheck(db: Queryable, check: CheckOutcome): Promise<boolean> {
  const { rowCount } = await db.query(
    `update check_report
        set began_at = least($1::timestamptz, now()), ended_at = least($2::timestamptz, now()), violations = $3
      where began_at is null or began_at <= least($1::timestamptz, now())`,
    [check.began_at, check.ended_at, JSON.stringify(check.violations)],
  );
  return rowCount === 1;
}

/** What an incomplete check found, or did not, says nothing about the system. */
export async function keepIncompleteCheck(db: Queryable, { ended_at: endedAt }: CheckOutcome): Promise<boolean> {
  const { rowCount } = await db.query(
    `update check_report set incomplete_at = least($1::timestamptz, now())
      where incomplete_at is null or incomplete_at <= least($1::timestamptz, now())`,
    [endedAt],
  );
  return rowCount === 1;
}

export async function readCheckState(db: Queryable): Promise<CheckState> {
  const { rows } = await db.query<CheckState>(
    `select coalesce(ended_at, made_at) as whole_at, incomplete_at, violations from check_report`,
  );
  if (rows[0] === undefined) throw new Error('check_report has lost its row');
  return rows[0];
}
