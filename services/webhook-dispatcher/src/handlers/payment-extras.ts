import type { UnmatchedMoney, WebhookEvent } from '@quittance/contracts/webhook.ts';

type Extras = Pick<WebhookEvent, 'order_id' | 'metadata' | 'requested_amount'>;

/** What an event repeats of its payment where that has it, in the order of its bytes; nothing else that a newer message may hold. */
export const extrasOf = ({ order_id, metadata, requested_amount }: Extras): Extras => ({
  ...(order_id !== undefined && { order_id }),
  ...(metadata !== undefined && { metadata }),
  ...(requested_amount !== undefined && { requested_amount }),
});

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
