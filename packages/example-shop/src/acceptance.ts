import type { Payment, PaymentDetails, TransferChoice, UnmatchedTransfer } from '@quittance/sdk';
import { ordersOfPayments, type OrderOfPayment } from './orders.ts';
import type { Shop } from './shop.ts';

/** A transfer that may be for a payment, with what a person needs to decide about it. */
export type Candidate = UnmatchedTransfer & {
  /** Other orders that it may be for; null while Quittance does not answer. Empty also when no question is needed. */
  others: OrderOfPayment[] | null;
  /** Whether it may be for another merchant's payment: then only the operator of Quittance can accept it. */
  elsewhere: boolean;
};

/** Each of these is a request to Quittance. For further ones the page shows only how many payments they may be for. */
const MOST_QUESTIONS = 5;

/**
 * It may be another customer's money: a person has to compare it with what the customers say. With an address for each payment that is rare:
 * when the rest of an address was ended early, or on a wallet that payments share.
 */
export const isUncertain = ({ reason, candidate_count: count }: UnmatchedTransfer): boolean =>
  reason === 'ambiguous' || count > 1;

/** It already paid another order, and is listed only because its sender may be this order's customer. */
export const paidAnother = ({ reason }: UnmatchedTransfer): boolean => reason === 'paid_another';

/** @returns the unmatched transfers of a payment, each with the other orders of this shop that it may be for. */
export async function candidatesOf(shop: Shop, details: PaymentDetails): Promise<Candidate[]> {
  let questions = 0;
  const asked = details.unmatched_transfers.map(async (transfer): Promise<Candidate> => {
    if (paidAnother(transfer) || transfer.candidate_count === 1) return { ...transfer, others: [], elsewhere: false };
    questions += 1;
    if (questions > MOST_QUESTIONS) return { ...transfer, others: null, elsewhere: false };
    return { ...transfer, ...(await otherOrders(shop, transfer, details.payment_id)) };
  });
  return Promise.all(asked);
}

async function otherOrders(
  shop: Shop,
  { transaction_id, transaction_event_index: index }: UnmatchedTransfer,
  paymentId: string,
): Promise<Pick<Candidate, 'others' | 'elsewhere'>> {
  try {
    const { transfers } = await shop.quittance.findTransfers(transaction_id);
    const found = transfers.find((transfer) => transfer.transaction_event_index === index);
    if (found === undefined) return { others: null, elsewhere: false };
    const others = found.candidates.filter((id) => id !== paymentId);
    return { others: await ordersOfPayments(shop.db, others), elsewhere: found.candidates_elsewhere };
  } catch {
    return { others: null, elsewhere: false };
  }
}

/** What a person chose on the order's page. */
export type Choice = TransferChoice & {
  /** The number of candidates that the person saw and confirmed; null without a confirmation. */
  confirmed: number | null;
};

/**
 * Accepts a transfer for a payment, if the payment lists it now and a person has decided. The form is not trusted: the page may have been
 * open since before another order was created.
 * @returns the payment, or why the transfer was not accepted. @throws QuittanceError.
 */
export async function acceptFor(shop: Shop, paymentId: string, choice: Choice): Promise<Payment | string> {
  const { unmatched_transfers: listed } = await shop.quittance.getPaymentDetails(paymentId);
  const transfer = listed.find(
    ({ transaction_id, transaction_event_index }) =>
      transaction_id === choice.transaction_id && transaction_event_index === choice.transaction_event_index,
  );
  if (transfer === undefined || paidAnother(transfer)) return 'Not accepted. This transfer is not for this order.';
  if (!isUncertain(transfer)) return shop.quittance.acceptTransfer(paymentId, transfer);
  if (choice.confirmed !== transfer.candidate_count)
    return `Not accepted. This transfer may be for ${transfer.candidate_count} payments. Ask the customers, and confirm that it is for this order.`;
  return shop.quittance.acceptTransfer(paymentId, { ...transfer, confirm_candidates: transfer.candidate_count });
}
