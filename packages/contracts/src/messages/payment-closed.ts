import { defineMessage, type BodyOfMessage } from '../message.ts';
import { fields } from './fields.ts';

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
});

export type PaymentClosed = BodyOfMessage<typeof PaymentClosed>;
