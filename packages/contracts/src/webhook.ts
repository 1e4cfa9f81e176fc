import type { EventExtras, UnmatchedReason } from './api/payment.ts';

/** The events that a merchant can subscribe to: a payment reached a status, or an unmatched transfer arrived. */
export const webhookChoices = ['PAID', 'CHECKING', 'EXPIRED', 'CANCELLED', 'TRANSFER_UNMATCHED'] as const;
export type WebhookChoice = (typeof webhookChoices)[number];

/** JSON Schema of a merchant's choice, without duplicates. Up to release 0.2.0 merchants could leave PAID out. */
export const webhookChoiceSchema = {
  type: 'array',
  items: { enum: webhookChoices },
  minItems: 1,
  uniqueItems: true,
} as const;

/** A webhook endpoint as its merchant reads it, never with the signing key. `events`: see webhookChoices. */
export type WebhookSettings = {
  url: string;
  key_id: string;
  events: WebhookChoice[];
  created_at: string;
  updated_at: string;
};

/** The types of events other than PAID, and the choice that subscribes to each. */
export const noticeTypes = {
  'payment.checking': 'CHECKING',
  'payment.expired': 'EXPIRED',
  'payment.cancelled': 'CANCELLED',
  'transfer.unmatched': 'TRANSFER_UNMATCHED',
} as const satisfies Record<string, WebhookChoice>;
export type NoticeType = keyof typeof noticeTypes;

/** Why an attempt failed, in words a merchant can act on. */
export const errorCategories = [
  'dns_error',
  'blocked_address',
  'connect_refused',
  'connect_timeout',
  'connection_reset',
  'network_unreachable',
  'tls_error',
  'response_timeout',
  'protocol_error',
  'redirect',
  'http_4xx',
  'http_5xx',
  'interrupted',
  /** Withdrawn before it was sent, because the payment became PAID. */
  'superseded',
] as const;

export type ErrorCategory = (typeof errorCategories)[number];

/**
 * The categories that merchants read. For them, a name that leads to a private network is `dns_error`, like one that
 * doesn't exist: the difference would reveal which names exist in our network. Operators see it.
 */
export const merchantErrorCategories = errorCategories.filter((category) => category !== 'blocked_address');

/** `pending` also covers an attempt in flight. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

export type DeliveryRecord = {
  event_id: string;
  /** Null for a transfer that fits no payment. */
  payment_id: string | null;
  /** Null for PAID. */
  event_type: NoticeType | null;
  status: DeliveryStatus;
  /** Attempts of the current cycle that ended, from 0. */
  attempts: number;
  created_at: string;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
  delivered_at: string | null;
  /** Null before a failure and after delivery. */
  error_category: ErrorCategory | null;
};

/** The body of a delivery. Its bytes are stored once and never change. Source: the API contract, "Webhook event". */
export type WebhookEvent = {
  event_id: string;
  payment_id: string;
  status: 'PAID';
  expected_amount: string;
  transaction_id: string;
  transaction_event_index: number;
  description: string;
  /** Present only when the transfer pays because an operator or the merchant accepted it. */
  accepted?: true;
  /** The accepted transfer; present with `accepted`. */
  transfer?: UnmatchedMoney;
  /** For a payment with an address of its own: the sum of the transfers to it, decimal text in USDT, and the newest 100 of them. */
  received_amount?: string;
  transfers?: ReceivedPart[];
} & EventExtras;

/** One of the transfers that pay a payment together; its amount is decimal text in USDT. */
export type ReceivedPart = { transaction_id: string; transaction_event_index: number; amount: string };

/** The body of a delivery of any other type. The payment's fields are null if a transfer fits no payment. */
export type WebhookNotice = {
  event_id: string;
  event_type: NoticeType;
  payment_id: string | null;
  status: 'CHECKING' | 'EXPIRED' | 'CANCELLED' | 'UNMATCHED';
  expected_amount: string | null;
  transaction_id: string | null;
  transaction_event_index: number | null;
  description: string | null;
  transfer?: UnmatchedMoney;
  /** For `transfer.unmatched`: the merchant's payments that it may be for, at most 20. */
  candidates?: string[];
  /** Whether it may be for another merchant's payment. */
  candidates_elsewhere?: true;
  /** For `payment.expired`: how many unmatched transfers may be for the payment. */
  candidate_transfers?: number;
} & EventExtras;

/** A transfer that pays nothing by itself: its amount, the reason, and where and when it arrived. */
export type UnmatchedMoney = {
  amount: string;
  reason: UnmatchedReason | null;
  network: string;
  merchant_wallet: string;
  block_timestamp: string;
};
