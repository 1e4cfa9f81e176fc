/** Absent limits stay as they are; a daily limit of null means no daily cap. */
export type Limits = { total_limit?: number; daily_limit?: number | null };

/** What a beta is agreed to be; absent conditions are the standard ones. */
export type BetaConditions = Limits & { beta_duration_days?: number };

/** Standard beta. Source: the API contract, "Creation quota". */
export const standardBeta = { beta_duration_days: 30, total_limit: 100, daily_limit: 10 } as const;

/** The longest a beta may last, extensions included. */
export const MAX_BETA_DAYS = 3650;
