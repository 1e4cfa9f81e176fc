import type { CheckoutHelp, CheckoutQuestion } from '@quittance/contracts/http/payments/look-ups.ts';
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
export async function readCheckoutHelp(context: HelpContext, question: CheckoutQuestion): Promise<CheckoutHelp | null> {
  const payment = await findPaymentByToken(context.db, question.token_sha256);
  if (payment === null) return null;
  const lookup =
    question.transaction_id === undefined ? null : await lookUp(context, payment, question, question.transaction_id);
  const [warnings = []] = await context.readWarnings([payment]);
  return { arrived: await findArrived(context.db, payment), lookup, warnings };
}

async function lookUp(
  { db, finder }: Pick<HelpContext, 'db' | 'finder'>,
  payment: PaymentRow,
  { token_sha256: link, client_sha256: client }: CheckoutQuestion,
  transactionId: string,
): Promise<CheckoutLookup> {
  const known = judgeTransfers(payment, await findTransfersOf(db, transactionId, { wallet: payment }));
  if (known !== null) return { transaction_id: transactionId, ...known };
  const customer = { by: 'customer', link, ...(client !== undefined && { client }) } as const;
  const account = { merchant_id: payment.merchant_id, ...customer };
  const lookedUp = await finder.lookUp(transactionId, payment.network, account);
  return { transaction_id: transactionId, ...judgeLookedUp(payment, lookedUp) };
}
