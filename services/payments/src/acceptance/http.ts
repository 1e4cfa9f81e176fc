import { AcceptTransferAsMerchant } from '@quittance/contracts/http/payments/acceptance.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { acceptAsMerchant } from './accept.ts';
import type { AcceptanceContext } from './accept.ts';
import type { TransactAdmitted } from '../gate/admission.ts';
import { findDetails } from '../payment/view.sql.ts';
import type { ProgressSources } from '../payment/progress.ts';
import { toPayments } from '../payment/view.ts';

/** Accepts an unmatched transfer for a payment on its merchant's decision: 200 with the payment, also when repeated. */
export const acceptTransferRoute = ({
  acceptance,
  transact,
  leastPercent,
  publicBaseUrl,
  progress,
}: {
  acceptance: Omit<AcceptanceContext, 'transact'>;
  transact: TransactAdmitted;
  leastPercent: number;
  publicBaseUrl: string;
  progress: ProgressSources;
}): Route =>
  callRoute(AcceptTransferAsMerchant, async ({ params, body: event }) => {
    const { merchant_id: merchantId, payment_id: paymentId } = params;
    const context: AcceptanceContext = { ...acceptance, transact: (run) => transact(merchantId, run) };
    await acceptAsMerchant(context, { merchantId, paymentId, event }, leastPercent);
    const rows = await findDetails(acceptance.db, [{ merchant_id: merchantId, payment_id: paymentId }]);
    const [shown] = await toPayments(rows, progress, publicBaseUrl);
    if (shown === undefined) throw new Error(`${paymentId} was deleted after it was paid`);
    return shown;
  });
