import type { AccessPolicy, CreationLimits } from '../../access.ts';
import { defineCall, json } from '../../call.ts';

/** The limits record without the one field that only the gateway knows. */
export type OwnLimits = Omit<CreationLimits, 'last_api_request_at'>;

/** 503 for a merchant that quota does not know yet. */
export const ReadLimits = defineCall('payments', 'GET /merchants/:merchant_id/limits', json<OwnLimits>(), {
  callers: ['api-gateway'],
  access: 'viewer',
  forMerchants: true,
});

/** The policy that payments enforces, and what it has counted. */
export type Gate = AccessPolicy & {
  webhook_ok: boolean;
  /** `used_lifetime` when the current package began. */
  package_base: number;
  used_lifetime: number;
  /** The UTC day that `used_today` counts, `2026-01-31`, or null before the first payment. */
  used_day: string | null;
  used_today: number;
  /** At most a hundred; absent in the answer of a version that knows no proofs. */
  proven_wallets?: string[];
};

/** 404 while payments has no policy of the merchant. */
export const ReadGate = defineCall('payments', 'GET /merchants/:merchant_id/gate', json<Gate>(), { access: 'viewer' });
