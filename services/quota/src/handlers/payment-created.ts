import { PaymentCreated } from '@quittance/contracts/messages/payment-created.ts';
import { on, type Handler } from '@quittance/messaging/consumer/handler.ts';
import { countCreatedPayment } from '../store.ts';

/** Keeps the usage history. The inbox accepts each message once, so each payment counts once. */
export const paymentCreated = (): Handler =>
  on(PaymentCreated, 'payment-created', (payment, { tx }) =>
    countCreatedPayment(tx, payment.merchant_id, payment.created_at),
  );
