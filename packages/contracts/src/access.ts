import type { AccessChanged } from './messages/access-changed.ts';

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
