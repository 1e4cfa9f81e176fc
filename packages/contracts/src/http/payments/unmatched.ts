import { defineCall, json } from '../../call.ts';
import type { Payment } from '../../api/payment.ts';
import { EVENT_INDEX_MAX } from '../chain-watcher/transfers.ts';
import type { UnmatchedOnWallet } from './wallets.ts';

/** An unmatched transfer with its wallet and, if it can be for only one payment, that payment. */
export type UnmatchedListed = UnmatchedOnWallet & {
  merchant_wallet: string;
  related_payment: Pick<Payment, 'payment_id' | 'status' | 'amount' | 'order_id'> | null;
};

/** A position in the list: by block time, newest first. No two transfers have the same one. */
export type UnmatchedPlace = {
  blockTimestamp: Date;
  transactionId: string;
  index: number;
  network: string;
};

/** Opaque: only texts that this function wrote can be read. */
export const writePlace = ({ blockTimestamp, transactionId, index, network }: UnmatchedPlace): string =>
  Buffer.from(`${blockTimestamp.getTime()}.${transactionId}.${index}.${network}`).toString('base64url');

/** @returns null for a text that writePlace() did not write. */
export function readPlace(text: string): UnmatchedPlace | null {
  const written = Buffer.from(text, 'base64url').toString('utf8');
  const [, time, transactionId, index, network] =
    /^(\d{1,15})\.([0-9a-f]{64})\.(\d{1,10})\.([\w-]{1,64})$/.exec(written) ?? [];
  if (time === undefined || transactionId === undefined || index === undefined || network === undefined) return null;
  const place = { blockTimestamp: new Date(Number(time)), transactionId, index: Number(index), network };
  const exists = !Number.isNaN(place.blockTimestamp.getTime()) && place.index <= EVENT_INDEX_MAX;
  return exists && writePlace(place) === text ? place : null;
}

/**
 * `next_cursor` is null at the end. A merchant's page may have few or no transfers and still have a next page: each
 * request reads a limited number of all merchants' transfers, and `looked_through` is how far it got.
 */
export type UnmatchedPage = {
  transfers: UnmatchedListed[];
  next_cursor: string | null;
  looked_through: string | null;
};

const more = {
  access: 'viewer',
  query: { cursor: { parse: readPlace, reason: 'must be a next_cursor of an earlier page' } },
} as const;

/** Unmatched transfers to all merchants' wallets, newest first, fifty per page. */
export const ListUnmatched = defineCall('payments', 'GET /unmatched-transfers', json<UnmatchedPage>(), more);

/**
 * The same for one merchant: transfers that may be for one of its payments, or for none and to one of its wallets. A
 * cursor names one of its own transfers or a time, and never another merchant's transfer.
 */
export const ListUnmatchedOfMerchant = defineCall(
  'payments',
  'GET /merchants/:merchant_id/unmatched-transfers',
  json<UnmatchedPage>(),
  { ...more, forMerchants: 'viewer' },
);
