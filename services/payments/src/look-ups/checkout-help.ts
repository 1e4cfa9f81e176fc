import type { CheckoutHelp } from '@quittance/contracts/http/payments/look-ups.ts';
import type { CheckoutLookup } from '@quittance/contracts/payment.ts';
import { findPaymentByToken } from '../queries/arrived.ts';
import { findTransfersOf } from '../queries/found-transfers.ts';
import type { PaymentRow } from '../store/payment.ts';
import { findArrived } from './arrived.ts';
import { judgeLookedUp, judgeTransfers } from './checkout-lookup.ts';
import type { ReadWarnings } from '../views/warnings.ts';
import type { FindingContext } from './find-transfers.ts';

type HelpContext = Pick<FindingContext, 'db' | 'finder'> & { readWarnings: ReadWarnings };

/** @returns null for an unknown token. */
export async function readCheckoutHelp(
  context: HelpContext,
  tokenSha256: string,
  transactionId: string | null,
): Promise<CheckoutHelp | null> {
  const payment = await findPaymentByToken(context.db, tokenSha256);
  if (payment === null) return null;
  const lookup = transactionId === null ? null : await lookUp(context, payment, transactionId);
  const [warnings = []] = await context.readWarnings([payment]);
  return { arrived: await findArrived(context.db, payment), lookup, warnings };
}

async function lookUp(
  { db, finder }: Pick<HelpContext, 'db' | 'finder'>,
  payment: PaymentRow,
  transactionId: string,
): Promise<CheckoutLookup> {
  const known = judgeTransfers(payment, await findTransfersOf(db, transactionId, { wallet: payment }));
  if (known !== null) return { transaction_id: transactionId, ...known };
  const account = { merchant_id: payment.merchant_id, by: 'customer' } as const;
  const lookedUp = await finder.lookUp(transactionId, payment.network, account);
  return { transaction_id: transactionId, ...judgeLookedUp(payment, lookedUp) };
}
