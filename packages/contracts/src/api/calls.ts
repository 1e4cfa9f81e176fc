import { defineCall, json, type Call } from '../call.ts';
import type { Profile } from '../http/api-gateway/merchants.ts';
import type { ReleasedRest, WalletPool } from '../http/payments/pools.ts';
import type { ConfiguredWebhook } from '../http/webhook-dispatcher/endpoint.ts';
import type { DeliveryRecord } from '../webhook.ts';
import type { Payment } from './payment.ts';
import type { RatesInForce } from '../rates.ts';

/*
 * Calls of the public API that a merchant's people make at the console, with the token of the person in place of an API
 * key. Bodies, answers, limits and errors are those of the API: docs/openapi.yaml.
 */

/** @returns the same call at its public path. */
const atPublicPath = <C extends Call>(call: C): C => ({
  ...call,
  path: call.path.replace('/internal/v1/', '/api/v1/'),
});

const withBody = { body: json<object>({ type: 'object' }), idempotent: false } as const;

/** Needs the header `Idempotency-Key`. */
export const CreateOwnPayment = atPublicPath(
  defineCall('api-gateway', 'POST /payments', json<Payment>(), { ...withBody, status: 201, idempotent: true }),
);
export const CancelOwnPayment = atPublicPath(
  defineCall('api-gateway', 'POST /payments/:payment_id/cancel', json<Payment>()),
);
export const AcceptOwnTransfer = atPublicPath(
  defineCall('api-gateway', 'POST /payments/:payment_id/accept-transfer', json<Payment>(), withBody),
);
export const RetryOwnEvent = atPublicPath(
  defineCall('api-gateway', 'POST /merchant/webhook/events/:event_id/retry', json<DeliveryRecord>(), { status: 202 }),
);
export const SetOwnWebhook = atPublicPath(
  defineCall('api-gateway', 'PUT /merchant/webhook', json<Omit<ConfiguredWebhook, 'version'>>(), withBody),
);
export const RotateOwnWebhookKey = atPublicPath(
  defineCall('api-gateway', 'POST /merchant/webhook/rotate-key', json<{ key_id: string; signing_key: string }>()),
);
export const ReadOwnProfile = atPublicPath(defineCall('api-gateway', 'GET /merchant/profile', json<Profile>()));
export const SetOwnProfile = atPublicPath(
  defineCall('api-gateway', 'PUT /merchant/profile', json<Profile>(), withBody),
);
export const ListOwnPools = atPublicPath(
  defineCall('api-gateway', 'GET /merchant/wallet-pools', json<{ pools: WalletPool[] }>()),
);
export const PutOwnPool = atPublicPath(
  defineCall('api-gateway', 'PUT /merchant/wallet-pools/:name', json<WalletPool>(), withBody),
);
export const ReleaseOwnRest = atPublicPath(
  defineCall('api-gateway', 'DELETE /merchant/wallet-rests/:address', json<ReleasedRest>(), { idempotent: false }),
);
export const ReadOwnRates = atPublicPath(defineCall('api-gateway', 'GET /rates', json<RatesInForce>()));
