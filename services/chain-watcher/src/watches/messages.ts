import { parseAddress } from '@quittance/contracts/address.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { PaymentClosed, PaymentCreated } from '@quittance/contracts/messages.ts';
import { onBatch, PermanentError, type Handler } from '@quittance/messaging/consumer/handler.ts';
import { isSampled, tracer } from '@quittance/runtime/tracing/tracing.ts';
import { rememberClosed, rememberTraces, rememberUnfinished, type NewTrace } from './payment.sql.ts';
import { extendWatches, watchWallets } from './watch.sql.ts';

/** Leaves time to confirm a transfer that was seen just in time. */
const TRACED_AFTER_END_MS = 24 * 60 * 60 * 1000;

/**
 * Watches the wallets of new payments, from each payment's creation on, however late its message arrives.
 * The network's leader finds the rows at its next poll.
 */
export function paymentCreated({ watchGraceSeconds }: { watchGraceSeconds: number }): Handler {
  return onBatch(PaymentCreated, 'payment-created', async (messages, { tx, traceparents }) => {
    const payments = messages.map((message, index) => ({
      ...message,
      address: addressOf(message),
      traceparent: traceparents[index] ?? null,
    }));
    const watches = payments.map(
      ({ network, address, merchant_id, created_at, expires_at: end, amount, rest_seconds: rest }) => {
        const watchedUntil = endOfWatch(end, watchGraceSeconds, rest);
        const aloneUnits = rest === undefined ? null : parseAmount(amount);
        return { network, address, merchantId: merchant_id, watchedFrom: created_at, watchedUntil, aloneUnits };
      },
    );
    await watchWallets(tx, watches);
    await rememberUnfinished(tx, payments);
    const traces = payments.flatMap((payment) => traceOf(payment) ?? []);
    if (traces.length > 0) await rememberTraces(tx, traces);
  });
}

/** A wallet stays watched for a grace period after its payment, and at least as long as the payment has it for itself. */
const endOfWatch = (end: string, graceSeconds: number, restSeconds = 0): Date =>
  new Date(Date.parse(end) + Math.max(graceSeconds, restSeconds) * 1000);

function addressOf({ recipient }: { recipient: string }): string {
  const address = parseAddress(recipient);
  if (address === null) throw new PermanentError('the recipient is not an address');
  return address.hex;
}

/** Keeps only traces that this process exports, too. */
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

/**
 * When payments have ended, their wallets stay watched for a grace period, so that a late transfer is still shown to the merchant.
 * Messages may come in any order, because nothing is counted: a wallet is watched until the latest end of all its payments, in chain time,
 * and a payment that closes late only moves that end.
 */
export function paymentClosed({ watchGraceSeconds }: { watchGraceSeconds: number }): Handler {
  return onBatch(PaymentClosed, 'payment-closed', async (messages, { tx }) => {
    const ends = messages.map((message) => {
      const watchedUntil = endOfWatch(message.closed_at, watchGraceSeconds, message.rest_seconds);
      return { network: message.network, address: addressOf(message), watchedUntil };
    });
    await extendWatches(tx, ends);
    await rememberClosed(tx, messages);
  });
}
