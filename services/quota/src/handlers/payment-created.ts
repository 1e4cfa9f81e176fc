import { PaymentCreated } from '@quittance/contracts/messages.ts';
import { onBatch, type Handler } from '@quittance/messaging/consumer/handler.ts';
import { countCreatedPayments } from '../store.ts';

/** Updates the usage history. The inbox accepts each message once, so each payment counts once. */
export const paymentCreated = (): Handler =>
  onBatch(PaymentCreated, 'payment-created', (payments, { tx }) => countCreatedPayments(tx, payments));
