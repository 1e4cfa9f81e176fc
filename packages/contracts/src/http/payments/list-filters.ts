import { parseAddress } from '../../address.ts';
import { readCursor } from '../../payment-cursor.ts';
import { paymentStatuses } from '../../payment.ts';
import { parseReference } from '../../payment-reference.ts';
import { query } from '../../query.ts';

/**
 * What lists of payments are narrowed down by; a payment is listed when it fits all that is given. Of two times the first is included
 * and the second is not.
 */
export const listFilters = {
  status: query.oneOf(...paymentStatuses),
  created_from: query.timestamp,
  created_to: query.timestamp,
  /** The merchant's own name for its order. Several payments may have it. */
  order_id: { parse: parseOrderId, reason: 'must be 1 to 128 printable ASCII characters' },
  reference: {
    parse: (text: string) => parseReference(text) && text,
    reason: 'must be the 8 characters of a reference',
  },
  /** Of the transfer that pays the payment, or is about to. */
  transaction_id: {
    parse: parseTransactionId,
    reason: 'must be 64 hexadecimal characters, with or without 0x before them',
  },
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

function parseOrderId(text: string): string | null {
  return /^[\x20-\x7e]{1,128}$/.test(text) ? text : null;
}

/** Explorers write it with 0x, our own answers without. @returns 64 lowercase hexadecimal characters. */
export function parseTransactionId(text: string): string | null {
  return /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text)?.[1]?.toLowerCase() ?? null;
}
