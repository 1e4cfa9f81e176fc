import { defineMessage } from '../message.ts';
import { fields } from './fields.ts';

/** A payment waits for money. Published by payments; consumed by chain-watcher (watches the wallet) and quota (usage history). */
export type PaymentCreated = {
  payment_id: string;
  merchant_id: string;
  network: string;
  /** The stored, canonical merchant_wallet. */
  recipient: string;
  amount: string;
  created_at: string;
  expires_at: string;
};

export const PaymentCreated = defineMessage<PaymentCreated>({
  name: 'PaymentCreated',
  version: 1,
  published_by: 'payments',
  properties: {
    payment_id: fields.paymentId,
    merchant_id: fields.merchantId,
    network: fields.network,
    recipient: fields.address,
    amount: fields.amount,
    created_at: fields.timestamp,
    expires_at: fields.timestamp,
  },
});
