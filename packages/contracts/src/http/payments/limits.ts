import type { AccessPolicy, CreationLimits } from '../../access.ts';
import { defineCall, json } from '../../call.ts';

/** The limits record without the one field that only the gateway knows. */
export type OwnLimits = Omit<CreationLimits, 'last_api_request_at'>;

/** 503 for a merchant that quota doesn't know yet. */
export const ReadLimits = defineCall('payments', 'GET /merchants/:merchant_id/limits', json<OwnLimits>(), {
  callers: ['api-gateway'],
  access: 'viewer',
  forMerchants: true,
});

/** The policy that payments enforces, and its counters. */
export type Gate = AccessPolicy & {
  webhook_ok: boolean;
  /** The value of `used_lifetime` when the current package began. */
  package_base: number;
  used_lifetime: number;
  /** The UTC day of `used_today`, `2026-01-31`, or null before the first payment. */
  used_day: string | null;
  used_today: number;
  /** At most a hundred; absent from a release without wallet proofs. */
  proven_wallets?: string[];
};

/** 404 while payments has no policy for the merchant. */
export const ReadGate = defineCall('payments', 'GET /merchants/:merchant_id/gate', json<Gate>(), { access: 'viewer' });
