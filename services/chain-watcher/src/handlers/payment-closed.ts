import { parseAddress } from '@quittance/contracts/address.ts';
import { PaymentClosed } from '@quittance/contracts/messages/payment-closed.ts';
import { PermanentError, onBatch, type Handler } from '@quittance/messaging/consumer/handler.ts';
import { rememberClosed } from '../store/unfinished-payments.ts';
import { extendWatches } from '../store/watches.ts';

/**
 * Payments wait no longer: their wallets stay watched for a grace period from now, so that a late transfer is still shown
 * to the merchant. Nothing is counted, so messages may come in any order: a wallet is watched until the latest of all its
 * payments' ends, in the chain's own time, and a payment that closed late only moves that end further.
 */
export function paymentClosed({ watchGraceSeconds }: { watchGraceSeconds: number }): Handler {
  return onBatch(PaymentClosed, 'payment-closed', async (messages, { tx }) => {
    const ends = messages.map(({ network, recipient, closed_at: closedAt }) => {
      const address = parseAddress(recipient);
      if (address === null) throw new PermanentError('the recipient is no address');
      const watchedUntil = new Date(Date.parse(closedAt) + watchGraceSeconds * 1000);
      return { network, address: address.hex, watchedUntil };
    });
    await extendWatches(tx, ends);
    await rememberClosed(
      tx,
      messages.map(({ payment_id: paymentId, network }) => ({ paymentId, network })),
    );
  });
}
