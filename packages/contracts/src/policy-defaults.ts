/** Absent limits stay unchanged; a daily limit of null means none. */
export type Limits = { total_limit?: number; daily_limit?: number | null };

/** The conditions of a beta; absent ones are the standard conditions. */
export type BetaConditions = Limits & { beta_duration_days?: number };

/** Standard beta. Source: the API contract, "Creation quota". */
export const standardBeta = { beta_duration_days: 30, total_limit: 100, daily_limit: 10 } as const;

/** The highest limit: far above any real account, and still within PostgreSQL's integer. */
export const LIMIT_MAX = 1_000_000_000;

/**
 * Access for operators who host the service for themselves: legacy, which can create payments immediately, with a limit
 * that nobody reaches.
 */
export const unlimited = { access_type: 'legacy', total_limit: LIMIT_MAX, daily_limit: null } as const;

export const isUnlimited = (access: {
  access_type: string;
  total_limit: number;
  daily_limit: number | null;
}): boolean =>
  access.access_type === unlimited.access_type &&
  access.total_limit === unlimited.total_limit &&
  access.daily_limit === unlimited.daily_limit;

/** The longest duration of a beta, including extensions. */
export const MAX_BETA_DAYS = 3650;
