import { parseAddress } from '@quittance/contracts/address.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { PaymentCreated } from '@quittance/contracts/messages/payment-created.ts';
import { PermanentError, on, type Handler } from '@quittance/messaging/consumer/handler.ts';
import { currentSpan } from '@quittance/runtime/tracing/tracing.ts';
import { rememberTrace } from '../store/traced-payments.ts';
import { rememberUnfinished } from '../store/unfinished-payments.ts';
import { watchWallet } from '../store/watches.ts';

/** For the confirmations of a transfer that was seen just in time. */
const TRACED_AFTER_END_MS = 24 * 60 * 60 * 1000;

/**
 * A payment waits for money: watches its wallet from the payment's creation on, however late this message comes.
 * The network's leader notices the row at its next poll.
 */
export function paymentCreated({ watchGraceSeconds }: { watchGraceSeconds: number }): Handler {
  return on(PaymentCreated, 'payment-created', async (message, { tx }) => {
    const recipient = parseAddress(message.recipient);
    if (recipient === null) throw new PermanentError('the recipient is no address');
    await watchWallet(tx, {
      network: message.network,
      address: recipient.hex,
      merchantId: message.merchant_id,
      watchedFrom: message.created_at,
      watchedUntil: new Date(Date.parse(message.expires_at) + watchGraceSeconds * 1000),
    });
    await rememberUnfinished(tx, {
      paymentId: message.payment_id,
      network: message.network,
      createdAt: message.created_at,
    });
    const span = currentSpan();
    const amountUnits = parseAmount(message.amount);
    if (span?.isSampled !== true || amountUnits === null) return;
    await rememberTrace(tx, message.network, {
      address: recipient.hex,
      amountUnits,
      traceparent: span.traceparent,
      forgetAt: new Date(Date.parse(message.expires_at) + TRACED_AFTER_END_MS),
    });
  });
}
