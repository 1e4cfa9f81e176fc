import { isId } from '@quittance/contracts/ids.ts';
import { pathParameter, type RouteRequest } from '@quittance/http/server/route.ts';

/** The payment that a path names. @returns null for a malformed id, which is answered and counted like an unknown one. */
export function readPaymentId({ params }: RouteRequest): string | null {
  const paymentId = pathParameter(params, 'payment_id');
  return isId('pay', paymentId) ? paymentId : null;
}
