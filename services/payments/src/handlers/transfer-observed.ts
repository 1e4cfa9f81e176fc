import { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import { type Handler, on } from '@quittance/messaging/consumer/handler.ts';
import type { Announcer } from '../announcer.ts';
import { observeTransfer } from '../settlement.ts';

/** Moves payments by what the chain says. Messages may come twice or in the wrong order: only newer news of a transfer counts. */
export const transferObserved = (announcer: Announcer): Handler =>
  on(TransferObserved, 'transfer-observed', (message, { tx, logger }) =>
    observeTransfer({ tx, announcer, logger }, message),
  );
