import { hash } from 'node:crypto';
import {
  DETAILS_MAX,
  PUBLIC_PAYMENTS_MAX,
  ReadPaymentDetails,
  ReadPublicPayments,
  type OwnPayment,
} from '@quittance/contracts/http/payments/payments.ts';
import type { PaymentDetails, PublicPayment } from '@quittance/contracts/api/payment.ts';
import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import { createBatchedCall } from '@quittance/runtime/concurrency/batched-call.ts';

/** Hex SHA-256 of a public token, for counters and other services: the token itself goes nowhere. */
export const publicTokenHash = (token: string): string => hash('sha256', token, 'hex');

/**
 * A call to payments costs many times the rest of such a request, so waiting requests share one, and all viewers of one checkout page share
 * an answer. The time limit covers waiting and the call, which has its own.
 */
const batching = { concurrency: 4, maxWaiting: 2_000, timeoutMs: 1_900 };

/** Reads single payments. Each function throws ServiceUnavailable or HttpError 503 if payments does not answer. */
export function createPaymentViews(payments: ServiceClient) {
  const details = createBatchedCall<OwnPayment, PaymentDetails | null, PaymentDetails | null>({
    ...batching,
    maxBatch: DETAILS_MAX,
    keyOf: ownPaymentKey,
    answerOf: (payment) => payment,
    run: async (batch) => {
      const body = { payments: batch.map(({ input }) => input) };
      const { found } = await payments.call(ReadPaymentDetails, { body });
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
      const body = { tokens_sha256: batch.map(({ input }) => input) };
      const { found } = await payments.call(ReadPublicPayments, { body });
      const byHash = new Map(found.map(({ token_sha256: hash, ...shown }) => [hash, shown]));
      return batch.map(({ input }) => byHash.get(input) ?? null);
    },
  });
  /** The public view and the fields that only the checkout page shows. Null for an unknown token; a malformed one causes no call. */
  const checkoutPayment = async (token: string): Promise<CheckoutPayment | null> =>
    /^[\w-]{43}$/.test(token) ? byTokenHash(publicTokenHash(token)) : null;
  return {
    /** Null if the merchant has no such payment. */
    details: (merchantId: string, paymentId: string): Promise<PaymentDetails | null> =>
      details({ merchant_id: merchantId, payment_id: paymentId }),
    /** The public view. Null for an unknown token. */
    publicPayment: async (token: string): Promise<PublicPayment | null> =>
      (await checkoutPayment(token))?.payment ?? null,
    checkoutPayment,
  };
}

export type PaymentViews = ReturnType<typeof createPaymentViews>;

const ownPaymentKey = ({ merchant_id, payment_id }: OwnPayment): string => `${merchant_id} ${payment_id}`;
