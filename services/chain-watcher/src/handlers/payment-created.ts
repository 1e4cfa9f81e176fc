import { parseAddress } from '@quittance/contracts/address.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { PaymentCreated } from '@quittance/contracts/messages/payment-created.ts';
import { PermanentError, onBatch, type Handler } from '@quittance/messaging/consumer/handler.ts';
import { isSampled, tracer } from '@quittance/runtime/tracing/tracing.ts';
import { rememberTraces, type NewTrace } from '../store/traced-payments.ts';
import { rememberUnfinished } from '../store/unfinished-payments.ts';
import { watchWallets } from '../store/watches.ts';

/** For the confirmations of a transfer that was seen just in time. */
const TRACED_AFTER_END_MS = 24 * 60 * 60 * 1000;

/**
 * Payments wait for money: watches their wallets from each payment's creation on, however late its message comes.
 * The network's leader notices the rows at its next poll.
 */
export function paymentCreated({ watchGraceSeconds }: { watchGraceSeconds: number }): Handler {
  return onBatch(PaymentCreated, 'payment-created', async (messages, { tx, traceparents }) => {
    const payments = messages.map((message, index) => ({
      ...message,
      address: addressOf(message),
      traceparent: traceparents[index] ?? null,
    }));
    await watchWallets(
      tx,
      payments.map(({ network, address, merchant_id: merchantId, created_at: watchedFrom, expires_at: end }) => ({
        network,
        address,
        merchantId,
        watchedFrom,
        watchedUntil: new Date(Date.parse(end) + watchGraceSeconds * 1000),
      })),
    );
    await rememberUnfinished(
      tx,
      payments.map(({ payment_id: paymentId, network, created_at: createdAt }) => ({ paymentId, network, createdAt })),
    );
    const traces = payments.flatMap((payment) => traceOf(payment) ?? []);
    if (traces.length > 0) await rememberTraces(tx, traces);
  });
}

function addressOf({ recipient }: PaymentCreated): string {
  const address = parseAddress(recipient);
  if (address === null) throw new PermanentError('the recipient is no address');
  return address.hex;
}

/** Only what this process exports itself is kept. */
function traceOf({
  network,
  address,
  amount,
  expires_at: end,
  traceparent,
}: PaymentCreated & { address: string; traceparent: string | null }): NewTrace | null {
  const amountUnits = parseAmount(amount);
  if (tracer() === null || traceparent === null || !isSampled(traceparent) || amountUnits === null) return null;
  return { network, address, amountUnits, traceparent, forgetAt: new Date(Date.parse(end) + TRACED_AFTER_END_MS) };
}
