import { formatUnits } from '@quittance/contracts/amount.ts';
import type { AcceptedTransfer } from '@quittance/contracts/http/payments/acceptance.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { tokenUnitsOf } from '../settlement/decision.ts';
import { findPayment } from '../store/payment.ts';
import { type AcceptanceContext, acceptTransfer, type Pair } from './accept-transfer.ts';
import type { Standing } from './standing.ts';

/** As the audit of webhooks names a merchant that did something itself. */
const author = { actor: 'merchant', reason: 'accepted through the API' };

/**
 * As acceptTransfer(), because the payment's merchant decides so. An operator may accept anything; a merchant's word is worth as much as its
 * API key is safe, so the transfer must be confirmed and carry most of the amount.
 * @param leastPercent of the payment's amount.
 * @throws HttpError 404 for a payment that is not this merchant's, 409 with a sentence that names nobody else's payment.
 * @throws ServiceUnavailable when the chain could not be asked.
 */
export async function acceptAsMerchant(
  context: AcceptanceContext,
  { merchantId, paymentId, event }: { merchantId: string; paymentId: string; event: AcceptedTransfer },
  leastPercent: number,
): Promise<void> {
  const payment = await findPayment(context.db, paymentId);
  if (payment?.merchant_id !== merchantId) throw new HttpError(404, 'Payment not found');
  const refusal = (pair: Pair, standing: Standing) => merchantRefusal(pair, standing, leastPercent);
  await acceptTransfer(context, { paymentId, event, author, refusal });
}

/** @returns why a merchant may not accept this transfer, whatever an operator could; null where nothing speaks against it. */
function merchantRefusal(
  { payment, transfer }: Pair,
  { concerned, exactFor }: Standing,
  leastPercent: number,
): string | null {
  if (transfer.payment_id !== null && transfer.payment_id !== payment.payment_id)
    return 'This transfer pays another payment';
  if (!concerned.includes(payment.merchant_id)) return 'This transfer is not meant for this payment';
  if (concerned.length > 1)
    return 'This transfer may be for a payment of another merchant: only an operator can accept it';
  if (exactFor !== null && exactFor.merchant_id !== payment.merchant_id)
    return 'This transfer has exactly the amount of another payment';
  if (BigInt(transfer.amount_units) * 100n < tokenUnitsOf(payment, transfer) * BigInt(leastPercent)) {
    const amount = formatUnits(BigInt(transfer.amount_units), transfer.decimals);
    return `This transfer carries ${amount} USDT, less than ${leastPercent} % of the amount: only an operator can accept it`;
  }
  // The chain is asked only about what has come so far: whoever tries again and again until then would have it asked each time.
  return transfer.phase === 'seen' ? 'This transfer is not final yet' : null;
}
