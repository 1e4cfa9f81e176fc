import { sha256 } from '@quittance/contracts/ids.ts';
import type { PaymentDetails, PublicPayment } from '@quittance/contracts/payment.ts';
import {
  type CheckoutPayment,
  DETAILS_MAX,
  type DetailsAnswer,
  type DetailsRequest,
  type OwnPayment,
  PUBLIC_PAYMENTS_MAX,
  type PublicPaymentsAnswer,
  type PublicPaymentsRequest,
} from '@quittance/contracts/payment-views.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import { unavailable } from '@quittance/http/errors.ts';
import { createBatchedCall } from '@quittance/runtime/concurrency/batched-call.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { successBody } from './response.ts';

/** Reads single payments. Each throws ServiceUnavailable or HttpError 503 when payments does not answer. */
export type PaymentViews = {
  /** @returns null when the merchant has no such payment. */
  details: (merchantId: string, paymentId: string) => Promise<PaymentDetails | null>;
  /** The public view. @returns null for an unknown token; a malformed one causes no request. */
  publicPayment: (token: string) => Promise<PublicPayment | null>;
  /** The public view with the fields that only the checkout page shows. @returns null as `publicPayment` does. */
  checkoutPayment: (token: string) => Promise<CheckoutPayment | null>;
};

/** Hex SHA-256 of a public token: counters and other services get nothing else of it. */
export const publicTokenHash = (token: string): string => sha256(token).toString('hex');

/**
 * A call to another service costs many times the rest of such a request, so waiting requests share one, and viewers of one checkout
 * page share an answer in it. The time limit covers waiting and the call, which has its own.
 */
const batching = { concurrency: 4, maxWaiting: 2_000, timeoutMs: 1_900 };

export function createPaymentViews(payments: ServiceClient): PaymentViews {
  const details = createBatchedCall<OwnPayment, PaymentDetails | null, PaymentDetails | null>({
    ...batching,
    maxBatch: DETAILS_MAX,
    keyOf: ownPaymentKey,
    answerOf: (payment) => payment,
    run: async (batch) => {
      const json: DetailsRequest = { payments: batch.map(({ input }) => input) };
      const found = await ask<DetailsAnswer['found'][number]>(payments, '/internal/v1/payment-details', json);
      const byKey = new Map(
        found.map(({ merchant_id, payment }) => [
          ownPaymentKey({ merchant_id, payment_id: payment.payment_id }),
          payment,
        ]),
      );
      return batch.map(({ input }) => byKey.get(ownPaymentKey(input)) ?? null);
    },
  });
  const byTokenHash = createBatchedCall<string, CheckoutPayment | null, CheckoutPayment | null>({
    ...batching,
    maxBatch: PUBLIC_PAYMENTS_MAX,
    keyOf: (tokenHash) => tokenHash,
    answerOf: (shown) => shown,
    run: async (batch) => {
      const json: PublicPaymentsRequest = { tokens_sha256: batch.map(({ input }) => input) };
      const found = await ask<FoundPublicPayment>(payments, '/internal/v1/public-payments', json);
      const byHash = new Map(found.map(({ token_sha256: hash, ...shown }) => [hash, { ...unsaid(), ...shown }]));
      return batch.map(({ input }) => byHash.get(input) ?? null);
    },
  });
  const checkoutPayment = async (token: string): Promise<CheckoutPayment | null> =>
    /^[\w-]{43}$/.test(token) ? byTokenHash(publicTokenHash(token)) : null;
  return {
    details: (merchantId, paymentId) => details({ merchant_id: merchantId, payment_id: paymentId }),
    publicPayment: async (token) => (await checkoutPayment(token))?.payment ?? null,
    checkoutPayment,
  };
}

type FoundPublicPayment = Pick<PublicPaymentsAnswer['found'][number], 'token_sha256' | 'payment'> &
  Partial<PublicPaymentsAnswer['found'][number]>;

/** For a payments service of an older release, which says the payment alone: by our own clock, and without confirmations. */
const unsaid = (): Omit<CheckoutPayment, 'payment'> => ({ confirmations: null, server_time: rfc3339(new Date()) });

const ownPaymentKey = ({ merchant_id, payment_id }: OwnPayment): string => `${merchant_id} ${payment_id}`;

async function ask<Found>(payments: ServiceClient, path: string, json: object): Promise<Found[]> {
  // A question, although asked by POST.
  const answer = await payments.request({ method: 'POST', path, json, idempotent: true });
  const found = successBody(answer)?.['found'];
  if (!Array.isArray(found)) throw unavailable(new Error(`payments answered ${answer.status} without a list`));
  return found as Found[];
}
