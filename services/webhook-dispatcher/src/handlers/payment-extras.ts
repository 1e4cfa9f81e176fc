import { eventExtraNames, type EventExtras } from '@quittance/contracts/api/payment.ts';
import type { UnmatchedMoney } from '@quittance/contracts/webhook.ts';

/** What an event repeats of its payment, in the order of its bytes; nothing else that a newer message may hold. */
export const extrasOf = (message: EventExtras): EventExtras =>
  Object.fromEntries(
    eventExtraNames.filter((name) => message[name] !== undefined).map((name) => [name, message[name]]),
  );

/** A transfer that does not pay by itself, in the order of its bytes. */
export const moneyOf = ({
  amount,
  reason,
  network,
  merchant_wallet,
  block_timestamp,
}: UnmatchedMoney): UnmatchedMoney => ({
  amount,
  reason,
  network,
  merchant_wallet,
  block_timestamp,
});
