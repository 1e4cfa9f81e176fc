import { defineCall, json, object } from '../../call.ts';
import { fields } from '../../messages/fields.ts';
import type { TransferObserved } from '../../messages/transfer-observed.ts';
import { query } from '../../query.ts';
import { checkedList, type Violation } from '../check.ts';

/** Which transfer of a network's ledger. */
export type TransferKey = Pick<TransferObserved, 'network' | 'transaction_id' | 'transaction_event_index'>;

export const transferKeyProperties = {
  network: fields.network,
  transaction_id: fields.transactionId,
  transaction_event_index: fields.eventIndex,
} as const;

export type CheckedPayment = {
  payment_id: string;
  /**
   * `told` when its PaymentPaid has left this service, and `paid` while it has not or has only just; `open` for every payment that is not
   * PAID.
   */
  state: 'open' | 'paid' | 'told';
  /** What pays it, and whether somebody accepted that. Null while nothing does. */
  transfer: (TransferKey & { accepted: boolean }) | null;
};

/**
 * Looks at the payments created from `since` on, in the order of their ids, a page at a time; the page after `after`. `next` is null at
 * the end. `read_at` is when it began, for others to tell what they learned later.
 */
export const CheckPayments = defineCall(
  'payments',
  'GET /check/payments',
  json<{ read_at: string; payments: CheckedPayment[]; violations: Violation[]; next: string | null }>(),
  { access: 'support', query: { since: query.timestamp, after: query.id('pay', 'a payment') } },
);

/** How many payments of a merchant were created before a time, those in the archive included. */
export type CreatedPayments = { merchant_id: string; created: number };

/**
 * Looks at the counters of the merchants whose ids follow `after`, some at a time. `until` is the beginning of the UTC day; nothing is
 * said of `merchants` while it is not long over.
 */
export const CheckCounters = defineCall(
  'payments',
  'GET /check/counters',
  json<{
    until: string;
    merchants: CreatedPayments[];
    counted: number;
    violations: Violation[];
    next: string | null;
  }>(),
  { access: 'support', query: { after: query.text } },
);

/** A transfer as chain-watcher last told of it. */
export type ToldTransfer = TransferKey & Pick<TransferObserved, 'version' | 'amount_units'>;

/** Whether payments knows these transfers as they were told. */
export const CheckLedger = defineCall('payments', 'POST /check/transfers', json<{ violations: Violation[] }>(), {
  access: 'support',
  idempotent: true,
  maxBodyBytes: 512 * 1024,
  body: object<{ transfers: ToldTransfer[] }>({
    transfers: checkedList({
      ...transferKeyProperties,
      version: fields.version,
      amount_units: fields.tokenUnits,
    }),
  }),
});
