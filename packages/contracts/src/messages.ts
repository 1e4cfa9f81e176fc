import type { ServiceName } from './service-name.ts';
import { checkOfSchema, describeErrors, type ObjectOf } from './schema.ts';
import { AMOUNT_PATTERN } from './amount.ts';
import { unmatchedReasons, eventExtras, CANDIDATES_MAX, PARTS_MAX } from './api/payment.ts';
import { timestampSchema } from './timestamp.ts';
import { quoteSchema, QUOTES_MAX } from './api/rate.ts';
import { webhookChoiceSchema, noticeTypes, type NoticeType } from './webhook.ts';

/** A message on the broker: its name, its publisher, and the check of its body. */
export type MessageDefinition<T> = {
  /** Past tense, PascalCase; also the routing key. */
  name: string;
  /** Incremented only by a change that an old consumer could not read. */
  version: number;
  published_by: ServiceName;
  /**
   * For a message whose effect nobody waits for. Under load, relay and consumers process such messages in batches at
   * least this many milliseconds apart, which takes fewer transactions. A single message is sent immediately. Without
   * it, there is no spacing.
   */
  spacingMs?: number;
  /**
   * JSON Schema (draft 2020-12) of the body. Unknown fields are allowed, so that a newer sender doesn't break an older
   * reader.
   */
  schema: { type: 'object'; required: readonly string[]; properties: Record<string, object> };
  /** @throws InvalidMessage that lists every problem. */
  parse(value: unknown): T;
};

/** A body that doesn't match its message's schema. Retrying doesn't help. */
export class InvalidMessage extends Error {
  override readonly name = 'InvalidMessage';
}

/**
 * Declares a message. The type of its body is derived from the schemas of its fields.
 * @param definition.properties are required.
 * @param definition.optional may be absent: unknown to an older sender, or not always applicable.
 */
function defineMessage<
  const Properties extends Record<string, object>,
  const Optional extends Record<string, object> = { [name in never]: object },
>(
  definition: Omit<MessageDefinition<unknown>, 'parse' | 'schema'> & { properties: Properties; optional?: Optional },
): MessageDefinition<Body<Properties, Optional>> {
  const { properties, optional, ...rest } = definition;
  const schema = {
    type: 'object',
    required: Object.keys(properties),
    properties: { ...properties, ...optional },
  } as const;
  const validate = checkOfSchema<Body<Properties, Optional>>(schema);
  return {
    ...rest,
    schema,
    parse(value) {
      if (validate(value)) return value;
      throw new InvalidMessage(`${definition.name}: ${describeErrors(validate.errors)}`);
    },
  };
}

type Body<Properties, Optional> = ObjectOf<Properties> & ObjectOf<Optional, never>;

/** The body of a message. */
type BodyOfMessage<Definition extends MessageDefinition<unknown>> = ReturnType<Definition['parse']>;

/** Schemas of the fields that several messages share. */
export const fields = {
  merchantId: { type: 'string', pattern: '^mer_[0-9a-f]{32}$' },
  paymentId: { type: 'string', pattern: '^pay_[0-9a-f]{32}$' },
  network: { type: 'string', pattern: '^[a-z][a-z0-9-]{0,31}$' },
  address: { type: 'string', minLength: 34, maxLength: 42 },
  amount: { type: 'string', pattern: AMOUNT_PATTERN },
  /** Base units of the token, decimal integer text. */
  tokenUnits: { type: 'string', pattern: '^[1-9][0-9]{0,77}$' },
  /** 64 lowercase hex characters, no 0x. */
  transactionId: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  /** Lowercase hex. */
  sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  /** Position of the event in the receipt's full log list, from 0. Source: the API contract, "Webhook event". */
  eventIndex: { type: 'integer', minimum: 0 },
  count: { type: 'integer', minimum: 0 },
  version: { type: 'integer', minimum: 1 },
  timestamp: timestampSchema,
  accessType: { type: 'string', enum: ['beta', 'legacy'] },
} as const;

/** A transfer that doesn't pay by itself: its amount, the reason, and where and when it arrived. */
const unmatchedMoney = {
  type: 'object',
  required: ['amount', 'reason', 'network', 'merchant_wallet', 'block_timestamp'],
  properties: {
    /** Its amount, decimal text in USDT. */
    amount: { type: 'string', minLength: 1 },
    /** Why it doesn't pay; null when it can't be for any payment. */
    reason: { enum: [...unmatchedReasons, null] },
    network: fields.network,
    merchant_wallet: fields.address,
    block_timestamp: fields.timestamp,
  },
} as const;

/** One of the transfers that pay a payment together. */
const receivedPart = {
  type: 'object',
  required: ['transaction_id', 'transaction_event_index', 'amount'],
  properties: {
    transaction_id: fields.transactionId,
    transaction_event_index: fields.eventIndex,
    /** Decimal text in USDT. */
    amount: { type: 'string', minLength: 1 },
  },
} as const;

/** The same field, or null. */
export const nullable = <const S extends { type: string }>(schema: S) =>
  ({ ...schema, type: [schema.type, 'null'] }) as Omit<S, 'type'> & { type: readonly [S['type'], 'null'] };

/** A merchant got its credentials. Published by api-gateway, consumed by quota, which creates its policy. */
export const MerchantRegistered = defineMessage({
  name: 'MerchantRegistered',
  version: 1,
  published_by: 'api-gateway',
  properties: {
    merchant_id: fields.merchantId,
    name: { type: 'string', minLength: 1, maxLength: 200 },
    access_type: fields.accessType,
    total_limit: fields.count,
    /** Null means no daily limit. */
    daily_limit: nullable(fields.count),
    /** Null for legacy. */
    beta_duration_days: nullable(fields.count),
    registered_at: fields.timestamp,
  },
});

export type MerchantRegistered = BodyOfMessage<typeof MerchantRegistered>;

/**
 * The whole account of a merchant was blocked or unblocked.
 * Published by api-gateway; consumed by quota (nothing new is created) and webhook-dispatcher (deliveries are held).
 */
export const MerchantStatusChanged = defineMessage({
  name: 'MerchantStatusChanged',
  version: 1,
  published_by: 'api-gateway',
  properties: {
    merchant_id: fields.merchantId,
    status: { type: 'string', enum: ['active', 'blocked'] },
    /** Grows with each change of this merchant. A lower version is outdated. */
    status_version: fields.version,
    changed_at: fields.timestamp,
  },
});

export type MerchantStatusChanged = BodyOfMessage<typeof MerchantStatusChanged>;

/** The whole policy of a merchant after a change. Published by quota, consumed by payments, which keeps the highest policy_version. */
export const AccessChanged = defineMessage({
  name: 'AccessChanged',
  version: 1,
  published_by: 'quota',
  properties: {
    merchant_id: fields.merchantId,
    /** Grows with every change; only the newest version counts. */
    policy_version: fields.version,
    access_type: fields.accessType,
    /** False while the whole account is blocked. */
    account_active: { type: 'boolean' },
    creation_paused: { type: 'boolean' },
    beta_duration_days: nullable(fields.count),
    /** Null until a beta is activated. */
    beta_started_at: nullable(fields.timestamp),
    beta_expires_at: nullable(fields.timestamp),
    /** Payments allowed in this package. */
    total_limit: fields.count,
    /** Payments allowed per UTC day; null means no daily limit. */
    daily_limit: nullable(fields.count),
    /** Grows when a new package begins. The package's usage is counted from there; lifetime usage continues. */
    package_number: fields.version,
    changed_at: fields.timestamp,
  },
});

export type AccessChanged = BodyOfMessage<typeof AccessChanged>;

/**
 * A merchant configured its first webhook endpoint, or changed the events it subscribes to. Published by
 * webhook-dispatcher, consumed by payments, which creates no payment without an endpoint and publishes NoticeRaised
 * only for subscribed events.
 */
export const WebhookConfigured = defineMessage({
  name: 'WebhookConfigured',
  version: 1,
  published_by: 'webhook-dispatcher',
  properties: {
    merchant_id: fields.merchantId,
    configured_at: fields.timestamp,
  },
  optional: {
    events: webhookChoiceSchema,
    /** The endpoint's version; grows with each change. A choice with a version lower than the known one is outdated. */
    version: fields.version,
  },
});

export type WebhookConfigured = BodyOfMessage<typeof WebhookConfigured>;

/** A payment waits for money. Published by payments; consumed by chain-watcher (watches the wallet) and quota (usage history). */
export const PaymentCreated = defineMessage({
  name: 'PaymentCreated',
  version: 1,
  published_by: 'payments',
  // A wallet is watched from the payment's creation on, even if this message arrives late.
  spacingMs: 50,
  properties: {
    payment_id: fields.paymentId,
    merchant_id: fields.merchantId,
    network: fields.network,
    /** The stored, canonical merchant_wallet. */
    recipient: fields.address,
    amount: fields.amount,
    created_at: fields.timestamp,
    expires_at: fields.timestamp,
  },
  optional: {
    /** For a payment that has its address for itself: how long the address is its own after its end. */
    rest_seconds: fields.count,
  },
});

export type PaymentCreated = BodyOfMessage<typeof PaymentCreated>;

/**
 * The state of a USDT transfer to a watched wallet. Published by chain-watcher, consumed by payments.
 * `seen`: in a block of the canonical chain. `confirmed`: deep enough to trust. `retracted`: its block was reorganised
 * away.
 */
export const TransferObserved = defineMessage({
  name: 'TransferObserved',
  version: 1,
  published_by: 'chain-watcher',
  properties: {
    /** The merchant for whom the wallet is watched; for sharding. payments decides who is paid. */
    merchant_id: fields.merchantId,
    network: fields.network,
    transaction_id: fields.transactionId,
    transaction_event_index: fields.eventIndex,
    block_number: fields.count,
    /** 0x and 64 lowercase hex characters. */
    block_hash: { type: 'string', pattern: '^0x[0-9a-f]{64}$' },
    block_timestamp: fields.timestamp,
    /** Canonical address of the sender. */
    from: fields.address,
    /** Canonical address of the recipient. */
    to: fields.address,
    amount_units: fields.tokenUnits,
    decimals: fields.count,
    phase: { type: 'string', enum: ['seen', 'confirmed', 'retracted'] },
    /** Grows with each observation of this transfer; a lower version is outdated and ignored. */
    version: fields.version,
    confirmations: fields.count,
    confirmations_required: fields.version,
  },
  optional: {
    /**
     * When chain-watcher first read any block with this transfer, by its database's clock. Absent in messages of
     * releases up to 0.2.0, which means unknown and not live.
     */
    first_seen_at: fields.timestamp,
    /**
     * Whether the network was being read without a gap: the previous read was at most 15 s earlier, and its head was
     * below this block.
     */
    live: { type: 'boolean' },
  },
});

export type TransferObserved = BodyOfMessage<typeof TransferObserved>;

/**
 * A payment's money has arrived finally. Published by payments once for each payment, consumed by webhook-dispatcher,
 * which creates the webhook event.
 */
export const PaymentPaid = defineMessage({
  name: 'PaymentPaid',
  version: 1,
  published_by: 'payments',
  properties: {
    payment_id: fields.paymentId,
    merchant_id: fields.merchantId,
    /** The payment's amount, even if the transfer carried a different one. */
    expected_amount: fields.amount,
    transaction_id: fields.transactionId,
    transaction_event_index: fields.eventIndex,
    description: { type: 'string', minLength: 1, maxLength: 500 },
    paid_at: fields.timestamp,
  },
  optional: {
    ...eventExtras,
    /** Present when the transfer pays because a person accepted it. `transfer` then describes it. */
    accepted: { enum: [true] },
    transfer: unmatchedMoney,
    /** For a payment that has its address for itself: the sum of its transfers, decimal text in USDT, and the transfers. */
    received_amount: { type: 'string', minLength: 1 },
    transfers: { type: 'array', maxItems: PARTS_MAX, items: receivedPart },
  },
});

export type PaymentPaid = BodyOfMessage<typeof PaymentPaid>;

/** A payment no longer waits. Published by payments, consumed by chain-watcher, which stops watching after a grace period. */
export const PaymentClosed = defineMessage({
  name: 'PaymentClosed',
  version: 1,
  published_by: 'payments',
  spacingMs: 50,
  properties: {
    payment_id: fields.paymentId,
    merchant_id: fields.merchantId,
    network: fields.network,
    recipient: fields.address,
    status: { type: 'string', enum: ['PAID', 'EXPIRED', 'CANCELLED'] },
    closed_at: fields.timestamp,
  },
  optional: {
    /** As in PaymentCreated. */
    rest_seconds: fields.count,
  },
});

export type PaymentClosed = BodyOfMessage<typeof PaymentClosed>;

const text = { type: 'string', minLength: 1 } as const;

/**
 * An event other than PAID that a merchant subscribed to. Published by payments, in the transaction of the event, for
 * merchants that subscribed to it as far as payments knows. Consumed by webhook-dispatcher, which creates the webhook
 * event if they still subscribe to it.
 */
export const NoticeRaised = defineMessage({
  name: 'NoticeRaised',
  version: 1,
  published_by: 'payments',
  properties: {
    merchant_id: fields.merchantId,
    event_type: { type: 'string', enum: Object.keys(noticeTypes) as NoticeType[] },
    /** This and the payment's other fields are null for a transfer that fits no payment. */
    payment_id: nullable(fields.paymentId),
    expected_amount: nullable(fields.amount),
    description: nullable({ ...text, maxLength: 500 }),
    /** The transfer of the event, if it has one. */
    transaction_id: nullable(fields.transactionId),
    transaction_event_index: nullable(fields.eventIndex),
  },
  optional: {
    ...eventExtras,
    /** For an unmatched transfer. */
    transfer: unmatchedMoney,
    /** The merchant's payments that it may be for. Absent in messages of releases up to 0.2.0. */
    candidates: { type: 'array', items: fields.paymentId, maxItems: CANDIDATES_MAX },
    /** Whether it may be for another merchant's payment. */
    candidates_elsewhere: { type: 'boolean' },
    /** For an expired payment: how many unmatched transfers may be for it. */
    candidate_transfers: fields.count,
  },
});

export type NoticeRaised = BodyOfMessage<typeof NoticeRaised>;

/**
 * What the sources of exchange rates answered in one round. Published by chain-watcher, which reads them; consumed by payments, which decides
 * whether they make a rate. A source that gave no usable answer is left out.
 */
export const RatesObserved = defineMessage({
  name: 'RatesObserved',
  version: 1,
  published_by: 'chain-watcher',
  properties: {
    /** When the round ended. */
    observed_at: fields.timestamp,
    /** Prices and rates, each source and currency at most once. */
    quotes: {
      type: 'array',
      minItems: 1,
      maxItems: QUOTES_MAX,
      items: quoteSchema,
    },
  },
});

export type RatesObserved = BodyOfMessage<typeof RatesObserved>;
