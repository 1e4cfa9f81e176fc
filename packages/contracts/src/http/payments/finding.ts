import { parseAddress } from '../../address.ts';
import { defineCall, json } from '../../call.ts';
import { isId, parseTransactionId, sha256 } from '../../ids.ts';
import { parseReference } from '../../payment-reference.ts';
import type { Payment } from '../../api/payment.ts';
import { query } from '../../query.ts';
import { listFilters } from './payments.ts';

const { status, created_from, created_to, order_id, reference, transaction_id, merchant_wallet } = listFilters;

export const exportFormats = ['csv', 'ndjson'] as const;

export type ExportFormat = (typeof exportFormats)[number];

/**
 * A merchant's payments as a stream, oldest first: those created before the export began, each in its state when it is
 * read. CSV by RFC 4180 unless `format` says otherwise, with a byte order mark for spreadsheets when `bom` is 1; ndjson
 * ends with `{"end":<count>}`. If the export can't be finished, the connection breaks. 429 with Retry-After while
 * another export of this merchant is running.
 */
export const ExportPayments = defineCall('payments', 'GET /merchants/:merchant_id/payments/export', json<never>(), {
  callers: ['api-gateway'],
  access: 'viewer',
  forMerchants: 'viewer',
  query: { status, created_from, created_to, format: query.oneOf(...exportFormats), bom: query.oneOf('0', '1') },
});

/** The fields by which a payment can be found. */
export const findable = ['payment_id', 'token', 'order_id', 'reference', 'transaction_id', 'merchant_wallet'] as const;

export type FoundPayment = Payment & { merchant_id: string; found_by: (typeof findable)[number] };

export const FOUND_MAX = 100;

/**
 * For operators: payments of any merchant that match one of the given values, each once; the newest hundred for each
 * field.
 */
export const FindPayments = defineCall('payments', 'GET /payments', json<{ payments: FoundPayment[] }>(), {
  access: 'viewer',
  query: {
    payment_id: query.id('pay', 'a payment'),
    /** SHA-256 in hex, so that no log contains a token that opens the checkout page. */
    token_sha256: { parse: (text: string) => (/^[0-9a-f]{64}$/.test(text) ? text : null), reason: 'must be a hash' },
    ...{ order_id, reference, transaction_id, merchant_wallet },
  },
});

/**
 * The queries of FindPayments for a text. Almost any text can be an order id. @returns null for a text that can't match
 * anything.
 */
export function paymentQueryOf(text: string): Record<string, string> | null {
  const publicToken = /^(?:.*\/pay\/)?([\w-]{43})(?:[?#].*)?$/.exec(text)?.[1];
  const ways = {
    payment_id: isId('pay', text) ? text : null,
    token_sha256: publicToken === undefined ? null : sha256(publicToken).toString('hex'),
    transaction_id: parseTransactionId(text),
    merchant_wallet: parseAddress(text)?.address ?? null,
    reference: parseReference(text) && text,
    order_id: query.orderId.parse(text),
  };
  const known = Object.entries(ways).flatMap(([way, value]) => (value === null ? [] : [[way, value] as const]));
  return known.length === 0 ? null : Object.fromEntries(known);
}
