import type { BrokenRuleCount, CheckOutcome } from '@quittance/contracts/http/check.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';

type CheckState = {
  /** The end of the last whole check; before the first one, the time at which the table was created. */
  whole_at: Date;
  /** When the last unfinished check ended; null if every check finished. */
  incomplete_at: Date | null;
  /** What the last whole check found. */
  violations: BrokenRuleCount[];
};

/**
 * Stores a whole check, unless a later one is stored. A check's times come from another machine's clock: a time in the future would keep the
 * alert about late checks silent, so it counts as now.
 * @returns false if a later one is stored.
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

/** Stores only the time: the findings of an incomplete check say nothing about the system. */
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
  if (rows[0] === undefined) throw new Error('the row of check_report is missing');
  return rows[0];
}
