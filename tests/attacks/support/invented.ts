import { randomBytes } from 'node:crypto';
import type { Options } from 'amqplib';
import type { MessageDefinition } from '@quittance/contracts/messages.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { webhookChoices } from '@quittance/contracts/webhook.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { newMessageId } from '@quittance/messaging/broker/amqp-message.ts';
import { SIGNATURE_HEADER, signMessages } from '@quittance/messaging/broker/signature.ts';
import { bindings, DEAD_EXCHANGE, EXCHANGE, type Binding } from '@quittance/messaging/broker/topology.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { signerOfKey } from '@quittance/runtime/trust.ts';
import type { Merchant } from '../../support/merchant.ts';

/** A message that was invented, or copied from elsewhere. */
export type Forged = {
  /** For people. */
  what: string;
  exchange: string;
  routingKey: string;
  body: Buffer;
  properties: Options.Publish & { messageId: string };
  /** The queues that get it. */
  queues: string[];
};

/** The merchant that an invented message is about. */
export type Victim = { merchant: Merchant; payment: Payment };

/** Ids that are only in invented messages. */
export type InventedIds = { merchantId: string; paymentId: string; transactionId: string };

export const newInventedIds = (): InventedIds => ({
  merchantId: newId('mer'),
  paymentId: newId('pay'),
  transactionId: randomBytes(32).toString('hex'),
});

type Definition = MessageDefinition<unknown>;

/** Every message that a service consumes. */
export const definitions: readonly Definition[] = [...new Set(bindings.map(({ message }) => message))];

export const definitionOf = (name: string): Definition => definitions.find((message) => message.name === name)!;

/** Newer than any stored version of the merchant. */
const NEWEST = 1_000_000;

/** A body for each message that a thief would want: well formed, about a real merchant and a real payment. */
export function inventedBodies(stack: StackFile, { merchant, payment }: Victim, ids: InventedIds) {
  const now = rfc3339(new Date());
  const { merchantId: merchant_id } = merchant;
  const { payment_id, amount } = payment;
  const about = { merchant_id, network: stack.chain.network };
  const unlimited = { total_limit: 1_000_000, daily_limit: null };
  const transfer = { transaction_id: ids.transactionId, transaction_event_index: 0 };
  const told = { expected_amount: amount, description: 'invented' };
  const bodies: Record<string, object> = {
    TransferObserved: {
      ...{ ...about, ...transfer, block_number: 1, block_hash: `0x${randomBytes(32).toString('hex')}` },
      ...{ block_timestamp: now, from: newWallet(), to: payment.merchant_wallet, decimals: stack.chain.decimals },
      amount_units: unitsOf(amount, stack.chain.decimals),
      ...{ phase: 'confirmed', version: NEWEST, confirmations: 100, confirmations_required: 1 },
      ...{ first_seen_at: now, live: true },
    },
    PaymentPaid: { payment_id, merchant_id, ...told, ...transfer, paid_at: now },
    NoticeRaised: { merchant_id, event_type: 'payment.cancelled', payment_id, ...told, ...noTransfer },
    AccessChanged: {
      ...{ merchant_id, policy_version: NEWEST, access_type: 'legacy', account_active: false, creation_paused: true },
      ...{ beta_duration_days: null, beta_started_at: null, beta_expires_at: null, ...unlimited },
      ...{ package_number: 1, changed_at: now },
    },
    WebhookConfigured: { merchant_id, configured_at: now, events: webhookChoices.slice(0, 1), version: NEWEST },
    MerchantRegistered: {
      ...{ merchant_id: ids.merchantId, name: 'Nobody', access_type: 'legacy', ...unlimited },
      ...{ beta_duration_days: null, registered_at: now },
    },
    MerchantStatusChanged: { merchant_id, status: 'blocked', status_version: NEWEST, changed_at: now },
    PaymentCreated: {
      ...{ payment_id: ids.paymentId, ...about, recipient: newWallet(), amount: '1.00' },
      ...{ created_at: now, expires_at: rfc3339(new Date(Date.now() + 1_800_000)) },
    },
    PaymentClosed: { payment_id, ...about, recipient: payment.merchant_wallet, status: 'CANCELLED', closed_at: now },
    RatesObserved: { observed_at: now, quotes: [{ source: 'kraken', currency: 'EUR', value: '0.5', as_of: now }] },
  };
  return bodies;
}

const noTransfer = { transaction_id: null, transaction_event_index: null };

const unitsOf = (amount: string, decimals: number): string => {
  const [whole = '', fraction = ''] = amount.split('.');
  return String(BigInt(whole + fraction.padEnd(decimals, '0')));
};

/** As its publisher writes a message, without a signature. */
export function invented({ name, version }: Definition, body: object): Forged {
  const { merchant_id } = body as { merchant_id?: string };
  return {
    ...{ what: name, exchange: EXCHANGE, routingKey: name, body: Buffer.from(JSON.stringify(body)) },
    queues: bindings.filter(({ message }) => message.name === name).map(({ queue }) => queue),
    properties: {
      ...{ messageId: newMessageId(), type: name, contentType: 'application/json', persistent: true },
      correlationId: `forged-${randomBytes(4).toString('hex')}`,
      timestamp: Math.floor(Date.now() / 1000),
      headers: { version, merchant_id },
    },
  };
}

/** The same with this text, or something else, in place of the signature. */
export const withSignature = (forged: Forged, what: string, signature: unknown): Forged => ({
  ...forged,
  what: `${forged.what} ${what}`,
  properties: { ...forged.properties, headers: { ...forged.properties.headers, [SIGNATURE_HEADER]: signature } },
});

export const signedBy = (key: string, owner: string, forged: Forged): Forged =>
  withSignature(forged, `with the key of ${owner}`, signatureBy(key, forged));

export function signatureBy(key: string, { routingKey, body, properties }: Forged): string {
  const { version } = properties.headers as { version: number };
  const message = { name: routingKey, version, messageId: properties.messageId, body };
  return signMessages(signerOfKey(key), [message])[0]!;
}

/** Directly to one queue, as redriven messages are sent. */
export const toQueue = (forged: Forged, queue: string): Forged => ({
  ...forged,
  ...{ exchange: '', routingKey: queue, queues: [queue], what: `${forged.what} by the default exchange` },
});

/** As a dead letter of a queue. @param reason by which operators can choose it. */
export const asDeadLetter = (forged: Forged, { queue, handler }: Binding, reason: string): Forged => ({
  ...forged,
  ...{ exchange: DEAD_EXCHANGE, routingKey: queue, queues: [queue], what: `${forged.what} as a dead letter` },
  properties: {
    ...forged.properties,
    headers: { ...forged.properties.headers, reason, error: 'Error: none', source_queue: queue, handler },
  },
});

/** Another message with the same content. */
export const again = (forged: Forged): Forged => ({
  ...forged,
  properties: { ...forged.properties, messageId: newMessageId() },
});
