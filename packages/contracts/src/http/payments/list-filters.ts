import { parseAddress } from '../../address.ts';
import { readCursor } from '../../payment-cursor.ts';
import { paymentStatuses } from '../../api/payment.ts';
import { parseReference } from '../../payment-reference.ts';
import { query } from '../../query.ts';

/**
 * Filters for lists of payments. A payment is listed when it matches all of them. A start time is included, an end time
 * is not.
 */
export const listFilters = {
  status: query.oneOf(...paymentStatuses),
  created_from: query.timestamp,
  created_to: query.timestamp,
  /** The merchant's own id for its order. Several payments may have it. */
  order_id: query.orderId,
  reference: {
    parse: (text: string) => parseReference(text) && text,
    reason: 'must be the 8 characters of a reference',
  },
  /** Of the transfer that pays the payment, or is about to. */
  transaction_id: query.transactionId,
  merchant_wallet: {
    parse: (text: string) => parseAddress(text)?.address ?? null,
    reason: 'must be a wallet address, in mixed case only with the right checksum',
  },
  network: query.text,
  paid_from: query.timestamp,
  paid_to: query.timestamp,
};

export const pageParameters = {
  cursor: { parse: readCursor, reason: 'must be a next_cursor of an earlier page' },
  limit: query.integer(1, 100),
};
