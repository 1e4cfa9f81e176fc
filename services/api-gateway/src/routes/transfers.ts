import { AcceptTransferAsMerchant } from '@quittance/contracts/http/payments/acceptance.ts';
import { FindMerchantTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Admission } from '../admission/admission.ts';
import { merchantRoute } from '../admission/merchant-route.ts';
import { rateLimits } from '../admission/rate-limits.ts';
import { paymentNotFound } from '../responses/errors.ts';
import { forward } from '../upstream/response.ts';
import { bodiless } from '../validation/body-limit.ts';
import { readPaymentId } from '../validation/payment-id.ts';
import { readAcceptedTransfer, readTransactionQuery } from '../validation/transfer.ts';

/** The nodes of a network are asked, one after the other where the first does not answer. */
const ACCEPTANCE_TIMEOUT_MS = 8_000;
/** All networks may have to be asked; what takes longer is answered `not_read_yet`. */
const LOOK_UP_TIMEOUT_MS = 6_000;

type Dependencies = {
  admission: Admission;
  /** Of payments, with a deadline that leaves it time to have the chain asked. */
  acceptance: ServiceClient;
};

/** Money that pays nothing by itself: where it is, and making it pay a payment. */
export const transferRoutes = ({ admission, acceptance }: Dependencies): Route[] => [
  {
    publicTimeoutMs: ACCEPTANCE_TIMEOUT_MS,
    ...merchantRoute(admission, 'POST /api/v1/payments/:payment_id/accept-transfer', {
      limit: rateLimits.cancellation,
      read: async (request) => ({ paymentId: readPaymentId(request), event: await readAcceptedTransfer(request) }),
      handle: async ({ merchant, input: { paymentId, event } }) => {
        if (paymentId === null) throw paymentNotFound();
        const params = { ...merchant, payment_id: paymentId };
        return forward(await acceptance.send(AcceptTransferAsMerchant, { params, body: event }));
      },
    }),
  },

  {
    publicTimeoutMs: LOOK_UP_TIMEOUT_MS,
    ...merchantRoute(admission, 'GET /api/v1/merchant/transfers', {
      limit: rateLimits.sharedReads,
      read: bodiless<{ transaction_id: string }>(({ query }) => readTransactionQuery(query)),
      handle: async ({ merchant, input }) =>
        forward(await acceptance.send(FindMerchantTransfers, { params: merchant, query: input })),
    }),
  },
];
