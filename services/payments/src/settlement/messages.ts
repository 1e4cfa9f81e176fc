import { TransferObserved } from '@quittance/contracts/messages.ts';
import { type Handler, onBatch } from '@quittance/messaging/consumer/handler.ts';
import type { PaymentMessages } from '../payment/outgoing-messages.ts';
import { byOurClock, type ClockDifference } from '../expiry/clocks.ts';
import { observeTransfers } from './settlement.ts';
import { transferKey } from './writing.ts';

/**
 * Settles payments by what the chain shows. Messages may arrive twice or out of order: only newer versions of a transfer count. They are
 * handled in batches, because anyone can send thousands of transfers to a wallet, and each one alone would hold a connection while it waits
 * for the wallet's lock.
 */
export const transferObserved = (messages: PaymentMessages, clocks: ClockDifference): Handler =>
  onBatch(TransferObserved, 'transfer-observed', (observed, { tx, logger, traceparents }) => {
    const transfers = observed.map((transfer) => byOurClock(transfer, clocks));
    const traces = new Map(
      transfers.map((transfer, index) => [transferKey(transfer), traceparents[index] ?? undefined]),
    );
    const traceparentOf = (transfer: Parameters<typeof transferKey>[0]) => traces.get(transferKey(transfer));
    return observeTransfers({ tx, messages, logger, traceparentOf }, transfers);
  });
