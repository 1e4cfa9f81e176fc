import { defineCall, json, object } from '../call.ts';
import { fields, type TransferObserved } from '../messages.ts';
import { query } from '../query.ts';

/** A broken rule. `what` says in which rows, as a sentence for operators without secrets. */
export type Violation = { rule: string; what: string };

/** The most rows in one request. */
export const CHECKED_AT_ONCE = 500;

/** A service may be this far behind the one before it. Later changes are not compared. */
export const CHECK_GRACE_SECONDS = 60;

/** The schema of a list of items with these fields, as many as one request may have. */
export const checkedList = (properties: Readonly<Record<string, object>>): object => ({
  type: 'array',
  maxItems: CHECKED_AT_ONCE,
  items: { type: 'object', required: Object.keys(properties), properties },
});

/** Identifies a transfer in a network's ledger. */
export type TransferKey = Pick<TransferObserved, 'network' | 'transaction_id' | 'transaction_event_index'>;

const transferKeyProperties = {
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
  /** A transfer that pays it, and whether a person accepted it. Null if unpaid. */
  transfer: (TransferKey & { accepted: boolean }) | null;
};

/**
 * Checks the payments created from `since` on, in pages, in the order of their ids; `after` is the end of the previous
 * page. `next` is null at the end. `read_at` is when the check began, so that others can tell what changed later. A
 * payment that several transfers pay together is listed with each of them, or with the largest of very many.
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

/**
 * The transfers of a network in blocks from `since` on that were completely published a while ago, newest first, in
 * pages. Pass `next` as `below`; it is null at the end. A page may be empty before the end.
 */
export const ListToldTransfers = defineCall(
  'chain-watcher',
  'GET /check/transfers',
  json<{ transfers: ToldTransfer[]; next: string | null }>(),
  { access: 'support', query: { network: query.text, since: query.timestamp, below: query.text } },
);

/** Whether these transfers, which pay payments, are on chain as far as chain-watcher knows. */
export const CheckPayingTransfers = defineCall(
  'chain-watcher',
  'POST /check/transfers',
  json<{ violations: Violation[] }>(),
  {
    access: 'support',
    idempotent: true,
    maxBodyBytes: 256 * 1024,
    body: object<{ transfers: TransferKey[] }>({ transfers: checkedList(transferKeyProperties) }),
  },
);

/** Their states in payments; see CheckPayments. */
type Asked = { payments: Pick<CheckedPayment, 'payment_id' | 'state'>[] };

/**
 * Checks the events of these payments: each payment published as paid has one PAID event, no other has one, and every
 * unsent event is due or was sent. `read_at` is when payments read the states, by its database's clock. `events` is how
 * many events they have.
 */
export const CheckEvents = defineCall(
  'webhook-dispatcher',
  'POST /check/events',
  json<{ events: number; violations: Violation[] }>(),
  {
    access: 'support',
    idempotent: true,
    query: { read_at: query.timestamp },
    body: object<Asked>({
      payments: checkedList({
        payment_id: fields.paymentId,
        state: { type: 'string', enum: ['open', 'paid', 'told'] },
      }),
    }),
  },
);

/** The result of one run of `ops check`. */
export type CheckOutcome = {
  began_at: string;
  ended_at: string;
  /** Whether it checked everything. An incomplete run doesn't count. */
  whole: boolean;
  /** How often each rule is broken. Rules that hold are not listed. */
  violations: BrokenRuleCount[];
};

export type BrokenRuleCount = { rule: string; count: number };

/** There are about twenty rules. */
const RULES_MAX = 100;

/**
 * Stores the newest outcome for metrics and alerts. `kept` is false if one that began later is already stored. It has
 * no author, because it changes only what is shown about the system, and a schedule sends it.
 */
export const ReportCheck = defineCall('api-gateway', 'POST /check/report', json<{ kept: boolean }>(), {
  access: 'support',
  idempotent: true,
  body: object<CheckOutcome>({
    began_at: fields.timestamp,
    ended_at: fields.timestamp,
    whole: { type: 'boolean' },
    violations: {
      type: 'array',
      maxItems: RULES_MAX,
      items: {
        type: 'object',
        required: ['rule', 'count'],
        properties: {
          rule: { type: 'string', minLength: 1, maxLength: 200 },
          count: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
        },
      },
    },
  }),
});
