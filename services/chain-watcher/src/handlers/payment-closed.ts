import { parseAddress } from '@quittance/contracts/address.ts';
import { PaymentClosed } from '@quittance/contracts/messages/payment-closed.ts';
import { PermanentError, on, type Handler } from '@quittance/messaging/consumer/handler.ts';
import { rememberClosed } from '../store/unfinished-payments.ts';
import { extendWatch } from '../store/watches.ts';

/**
 * A payment waits no longer: its wallet stays watched for a grace period from now, so that a late transfer is still shown
 * to the merchant. Nothing is counted, so messages may come in any order: a wallet is watched until the latest of all its
 * payments' ends, in the chain's own time, and a payment that closed late only moves that end further.
 */
export function paymentClosed({ watchGraceSeconds }: { watchGraceSeconds: number }): Handler {
  return on(PaymentClosed, 'payment-closed', async (message, { tx }) => {
    const recipient = parseAddress(message.recipient);
    if (recipient === null) throw new PermanentError('the recipient is no address');
    await extendWatch(tx, {
      network: message.network,
      address: recipient.hex,
      watchedUntil: new Date(Date.parse(message.closed_at) + watchGraceSeconds * 1000),
    });
    await rememberClosed(tx, { paymentId: message.payment_id, network: message.network });
  });
}
