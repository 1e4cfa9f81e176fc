import { CREATIONS_PER_MINUTE } from '@quittance/contracts/http/api-gateway/merchants.ts';
import type { RateLimit } from '../store/rate-limit-window.ts';

/**
 * Every application rate limit. Endpoints that name the same row share its counter.
 * Counted per merchant, except `keyRotation` (per supplied rotation secret), `publicStatus` and `checkoutLookUp` (per public token).
 * Source: the API contract, "Application rate limits".
 */
export const rateLimits = {
  sharedReads: { scope: 'shared_reads', limit: 120, windowSeconds: 60 },
  /** Support can raise it for a merchant. */
  creation: { scope: 'creation', limit: CREATIONS_PER_MINUTE, windowSeconds: 60 },
  cancellation: { scope: 'cancellation', limit: 60, windowSeconds: 60 },
  webhookSettings: { scope: 'webhook_settings', limit: 10, windowSeconds: 60 },
  manualRetry: { scope: 'manual_retry', limit: 5, windowSeconds: 3600 },
  keyRotation: { scope: 'key_rotation', limit: 5, windowSeconds: 60 },
  publicStatus: { scope: 'public_status', limit: 120, windowSeconds: 60 },
  checkoutLookUp: { scope: 'checkout_look_up', limit: 6, windowSeconds: 60 },
} as const satisfies Record<string, RateLimit>;
