export type AccessType = 'beta' | 'legacy';

/** Who may create how many payments, as quota decides it and payments enforces it. Times are RFC 3339 UTC with milliseconds. */
export type AccessPolicy = {
  merchant_id: string;
  /** Grows with every change; only the newest counts. */
  policy_version: number;
  access_type: AccessType;
  /** False while the whole account is blocked. */
  account_active: boolean;
  creation_paused: boolean;
  beta_duration_days: number | null;
  /** Null until a beta is activated. */
  beta_started_at: string | null;
  beta_expires_at: string | null;
  /** Payments allowed in this package. */
  total_limit: number;
  /** Payments allowed in a UTC day; null means no daily cap. */
  daily_limit: number | null;
  /** Grows when a new package begins: usage of the package is counted from there, lifetime usage goes on. */
  package_number: number;
};

/** Why a creation is refused with 403, in the order in which the reasons are looked at. */
export const creationBlockReasons = [
  'account_inactive',
  'creation_paused',
  'beta_not_activated',
  'beta_expired',
  'total_quota_exhausted',
  'daily_quota_exhausted',
] as const;

export type CreationBlockReason = (typeof creationBlockReasons)[number];

/** What a merchant reads of its own limits. Source: the API contract, "Creation limits record". */
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
