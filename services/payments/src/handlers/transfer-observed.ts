import { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import { type Handler, on } from '@quittance/messaging/consumer/handler.ts';
import type { PaymentMessages } from '../payment-messages.ts';
import { observeTransfer } from '../settlement/settlement.ts';

/** Settles payments by what the chain shows. Messages may arrive twice or out of order: only newer versions of a transfer count. */
export const transferObserved = (messages: PaymentMessages): Handler =>
  on(TransferObserved, 'transfer-observed', (message, { tx, logger }) =>
    observeTransfer({ tx, messages, logger }, message),
  );
