import { defineCall, json, object } from '../../call.ts';
import { fields } from '../../messages/fields.ts';
import type { TransferObserved } from '../../messages/transfer-observed.ts';
import { query } from '../../query.ts';
import { checkedList, type Violation } from '../check.ts';

/** Identifies a transfer in a network's ledger. */
export type TransferKey = Pick<TransferObserved, 'network' | 'transaction_id' | 'transaction_event_index'>;

export const transferKeyProperties = {
  network: fields.network,
  transaction_id: fields.transactionId,
  transaction_event_index: fields.eventIndex,
} as const;

export type CheckedPayment = {
  payment_id: string;
  /**
   * `told` when its PaymentPaid has been published, `paid` until then and for a short time after, `open` for every
   * payment that is not PAID.
   */
  state: 'open' | 'paid' | 'told';
  /** The transfer that pays it, and whether a person accepted it. Null if unpaid. */
  transfer: (TransferKey & { accepted: boolean }) | null;
};

/**
 * Checks the payments created from `since` on, in pages, in the order of their ids; `after` is the end of the previous
 * page. `next` is null at the end. `read_at` is when the check began, so that others can tell what changed later.
 */
export const CheckPayments = defineCall(
  'payments',
  'GET /check/payments',
  json<{ read_at: string; payments: CheckedPayment[]; violations: Violation[]; next: string | null }>(),
  { access: 'support', query: { since: query.timestamp, after: query.id('pay', 'a payment') } },
);

/** How many payments a merchant created before a time, including archived ones. */
export type CreatedPayments = { merchant_id: string; created: number };

/**
 * Checks the counters of the merchants whose ids follow `after`, some at a time. `until` is the start of the UTC day.
 * `merchants` stays empty until some time after that.
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

/** A transfer as chain-watcher last published it. */
export type ToldTransfer = TransferKey & Pick<TransferObserved, 'version' | 'amount_units'>;

/** Whether payments has these transfers as they were published. */
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
