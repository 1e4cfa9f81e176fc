import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { PaymentStatus, UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import type { WebhookChoice } from '@quittance/contracts/webhook.ts';
import { dayOf, REPLY_KEPT, type Usage } from './rules.ts';
import { inOrder } from './whose-money.ts';

/** What the exchanges said last, and when, in milliseconds since 1970. */
export type ModelRate = { at: number; turn: 0 | 1 };

/** How a price becomes an amount. */
export type Conversion = { amount: string; price: object; rate: { value: string } & Record<string, unknown> };

/** A payment in the model. Times are milliseconds since 1970. */
export type ModelPayment = {
  id: string;
  token: string;
  merchant: string;
  network: string;
  wallet: string;
  amount: string;
  /** Millionths of a USDT. */
  units: bigint;
  /** The price in euros that the amount was converted from, and by which rate. */
  priced: Conversion | null;
  description: string;
  orderId: string | null;
  status: PaymentStatus;
  createdAt: number;
  expiresAt: number;
  paidAt: number | null;
  cancelledAt: number | null;
  /** How long its address rests after its end, in milliseconds; null when it shares its address. */
  rest: number | null;
  /** When its merchant ended the rest early. */
  releasedAt: number | null;
  /** The part of the amount that is enough, in percent. */
  percent: number | null;
};

/** A transfer as it was last received, and its meaning. */
export type ModelTransfer = {
  network: string;
  id: string;
  index: number;
  version: number;
  phase: 'seen' | 'confirmed' | 'retracted';
  merchant: string;
  wallet: string;
  sender: string;
  blockNumber: number;
  blockTime: number;
  /** The earliest published reading, and whether the network was read without a gap then. */
  firstSeen: number;
  live: boolean;
  /** Base units of the token. */
  tokenUnits: bigint;
  decimals: number;
  confirmations: number;
  confirmationsRequired: number;
  /** The payment it pays, or is about to pay. */
  pays: string | null;
  /** What it carried when somebody accepted it, in base units; else null. */
  accepted: bigint | null;
  /** The payment for which it counts together with others; whether that was paid is in `counted`. */
  part: string | null;
  /** What it carried when it paid a payment together with others, in base units; else null. */
  counted: bigint | null;
  /** Whether the beginning of its interval is in the window of the payment it is about to pay. */
  inside: boolean;
  /** Otherwise the payments it may be for, and why it pays none; null when there is no reason, or not yet. */
  among: string[];
  reason: UnmatchedReason | null;
  /** It stays undecided until this payment has ended or was paid, or until something else has happened. */
  waitsFor: string | null;
  /** Merchants have been notified of it. */
  notified: boolean;
};

export type ModelReply = { merchant: string; key: string; at: number; request: string; body: string };

/** Everything that payments has to remember. It has no counters: they are the payments, counted. */
export type Model = {
  now: number;
  /** What payments knows of the exchanges. */
  rate: ModelRate | null;
  policies: Map<string, AccessPolicy>;
  /** How many payments a merchant had when its package began. */
  packageBases: Map<string, number>;
  /** What each merchant with an endpoint is notified of. */
  webhooks: Map<string, readonly WebhookChoice[]>;
  /** Address to merchant. */
  wallets: Map<string, string>;
  payments: Map<string, ModelPayment>;
  replies: ModelReply[];
  ledger: Map<string, ModelTransfer>;
  /** Every message that was sent, as `name body`. */
  published: string[];
  /** Paid payments whose transfer is gone. */
  incidents: Set<string>;
  /** Overdue payments that an expiry round has claimed at this moment. */
  claimed: Set<string>;
  /** What happened since this was last emptied, for the report of what the runs have reached. */
  reached: string[];
};

export function emptyModel(now: number): Model {
  return {
    now,
    rate: null,
    policies: new Map(),
    packageBases: new Map(),
    webhooks: new Map(),
    wallets: new Map(),
    payments: new Map(),
    replies: [],
    ledger: new Map(),
    published: [],
    incidents: new Set(),
    claimed: new Set(),
    reached: [],
  };
}

/** A copy that can be changed without changing the original. */
export function copyOf(model: Model): Model {
  const records = <T extends object>(map: Map<string, T>): Map<string, T> =>
    new Map([...map].map(([key, record]) => [key, { ...record }]));
  return {
    now: model.now,
    rate: model.rate,
    // Policies and replies are replaced, never changed.
    policies: new Map(model.policies),
    packageBases: new Map(model.packageBases),
    webhooks: new Map(model.webhooks),
    wallets: new Map(model.wallets),
    payments: records(model.payments),
    replies: [...model.replies],
    ledger: records(model.ledger),
    published: [...model.published],
    incidents: new Set(model.incidents),
    claimed: new Set(model.claimed),
    reached: [...model.reached],
  };
}

export const transferKey = (transfer: { network: string; id: string; index: number }): string =>
  `${transfer.network} ${transfer.id} ${transfer.index}`;

export const slotOf = (model: Model, slot: { network: string; wallet: string; units: bigint }): ModelPayment[] =>
  [...model.payments.values()]
    .filter(({ network, wallet, units }) => network === slot.network && wallet === slot.wallet && units === slot.units)
    .sort(inOrder);

/** All payments on an address, of any amount. */
export const walletOf = (model: Model, { network, wallet }: { network: string; wallet: string }): ModelPayment[] =>
  [...model.payments.values()].filter((payment) => payment.network === network && payment.wallet === wallet);

export const isOwn = ({ rest }: Pick<ModelPayment, 'rest'>): boolean => rest !== null;

const paymentsOf = (model: Model, merchant: string): ModelPayment[] =>
  [...model.payments.values()].filter((payment) => payment.merchant === merchant);

/** A merchant's payments, counted: ever, in its package, on the day of `now`. */
export function usageOf(model: Model, merchant: string): Usage & { lifetime: number } {
  const own = paymentsOf(model, merchant);
  return {
    lifetime: own.length,
    inPackage: own.length - (model.packageBases.get(merchant) ?? 0),
    today: own.filter(({ createdAt }) => dayOf(createdAt) === dayOf(model.now)).length,
  };
}

/** The newest reply that is still repeated. */
export const replyOf = (model: Model, merchant: string, key: string): ModelReply | undefined =>
  model.replies.findLast(
    (reply) => reply.merchant === merchant && reply.key === key && reply.at > model.now - REPLY_KEPT,
  );

/** The rows that the service must have by now, in the format of readSnapshot(). */
export function snapshotOf(model: Model): Snapshot {
  const merchants = [...new Set([...model.policies.keys(), ...model.webhooks.keys()])];
  return {
    payments: [...model.payments.values()].map(paymentRow).sort(),
    transfers: [...model.ledger.values()].map((transfer) => transferRow(model, transfer)).sort(),
    gates: merchants.map((merchant) => gateRow(model, merchant)).sort(),
    wallets: [...model.wallets].map(([address, merchant]) => `${address} ${merchant}`).sort(),
    replies: model.replies
      .filter(({ at }) => at > model.now - REPLY_KEPT)
      .map(({ merchant, key, at, body }) => [merchant, key, at, body].join(' '))
      .sort(),
    messages: [...model.published].sort(),
    incidents: [...model.incidents].sort(),
  };
}

/** Rows as sorted lines of text: equal when the lines are, and a difference is readable. */
export type Snapshot = Record<
  'payments' | 'transfers' | 'gates' | 'wallets' | 'replies' | 'messages' | 'incidents',
  string[]
>;

const line = (...fields: (string | number | bigint | boolean | null)[]): string =>
  fields.map((field) => (field === null ? '-' : String(field))).join(' ');

const paymentRow = (payment: ModelPayment): string =>
  line(
    payment.id,
    payment.merchant,
    payment.status,
    payment.network,
    payment.wallet,
    payment.amount,
    payment.units,
    payment.priced === null ? null : JSON.stringify(payment.priced.price),
    payment.priced?.rate.value ?? null,
    payment.createdAt,
    payment.expiresAt,
    payment.paidAt,
    payment.cancelledAt,
    payment.rest === null ? null : payment.rest / 1000,
    payment.releasedAt,
    payment.percent,
    payment.orderId,
    payment.description,
  );

function transferRow(model: Model, transfer: ModelTransfer): string {
  const candidates = candidatesOf(model, transfer).map(({ id }) => id);
  return line(
    transferKey(transfer),
    transfer.version,
    transfer.phase,
    transfer.blockNumber,
    transfer.blockTime,
    transfer.firstSeen,
    transfer.live,
    transfer.tokenUnits,
    transfer.pays,
    candidates.length === 1 ? candidates[0]! : null,
    candidates.length > 1 ? candidates.sort().join() : null,
    transfer.reason,
    transfer.counted !== null && transfer.pays === null,
    // A paying transfer has nothing to be notified of.
    transfer.pays === null ? transfer.notified : null,
  );
}

/** The only payment that a transfer pays, or that it may be for; null when there are several or none. */
export function paymentOf(model: Model, { pays, among }: ModelTransfer): ModelPayment | null {
  const id = pays ?? (among.length === 1 ? among[0] : undefined);
  return id === undefined ? null : model.payments.get(id)!;
}

/** The transfers that are this payment's alone, in the order of the chain. */
export const transfersOf = (model: Model, { id }: ModelPayment): ModelTransfer[] =>
  [...model.ledger.values()]
    .filter((transfer) => transfer.phase !== 'retracted' && paymentOf(model, transfer)?.id === id)
    .sort(inChain);

/** The order of the chain. */
export const inChain = (one: ModelTransfer, other: ModelTransfer): number =>
  one.blockNumber - other.blockNumber || one.index - other.index || (one.id < other.id ? -1 : 1);

export const candidatesOf = (model: Model, { among }: ModelTransfer): ModelPayment[] =>
  among.map((id) => model.payments.get(id)!);

function gateRow(model: Model, merchant: string): string {
  const own = paymentsOf(model, merchant);
  const day = own.length === 0 ? null : dayOf(Math.max(...own.map(({ createdAt }) => createdAt)));
  return line(
    merchant,
    model.policies.get(merchant)?.policy_version ?? 0,
    model.webhooks.has(merchant),
    own.length,
    model.packageBases.get(merchant) ?? 0,
    day,
    own.filter(({ createdAt }) => dayOf(createdAt) === day).length,
  );
}
