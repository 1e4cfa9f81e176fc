import { defineMessage, type BodyOfMessage } from '../message.ts';
import { fields } from './fields.ts';

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
});

export type PaymentCreated = BodyOfMessage<typeof PaymentCreated>;
