import type { AccessChanged } from './messages.ts';

/** How many payments a merchant may create. quota decides it and payments enforces it. */
export type AccessPolicy = Omit<AccessChanged, 'changed_at'>;

export type AccessType = AccessPolicy['access_type'];

/** Why a creation is refused with 403, in the order of the checks. */
export const creationBlockReasons = [
  'account_inactive',
  'creation_paused',
  'beta_not_activated',
  'beta_expired',
  'total_quota_exhausted',
  'daily_quota_exhausted',
] as const;

export type CreationBlockReason = (typeof creationBlockReasons)[number];

/** A merchant's limits as the merchant reads them. Source: the API contract, "Creation limits record". */
export type CreationLimits = {
  merchant_id: string;
  access_type: AccessType;
  status: 'active' | 'blocked';
  creation_enabled: boolean;
  creation_allowed: boolean;
  creation_block_reason: CreationBlockReason | null;
  beta_duration_days: number | null;
  beta_started_at: string | null;
  beta_expires_at: string | null;
  total_limit: number;
  requests_used: number;
  requests_left: number;
  lifetime_requests_used: number;
  daily_limit: number | null;
  daily_used: number;
  daily_left: number | null;
  daily_reset_at: string;
  server_time: string;
  /** The previous authenticated request, or null before the second one. */
  last_api_request_at: string | null;
};

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
