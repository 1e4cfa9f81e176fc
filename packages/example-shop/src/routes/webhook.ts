import { nodeReceiver, WebhookVerificationError, type WebhookEvent } from '@quittance/sdk';
import type { RequestHandler } from 'express';
import { inTransaction } from '../database.ts';
import { findOrder, isNewEvent, settle } from '../orders.ts';
import { inOneLine, type Shop } from '../shop.ts';

/**
 * The endpoint that Quittance calls. The receiver reads the raw body, which was signed, and verifies it. It answers 2xx once the event has
 * had its effect, and an error otherwise, so that the event is sent again.
 */
export const webhook = (shop: Shop): RequestHandler =>
  nodeReceiver({
    keys: shop.config.signingKeys,
    onEvent: (event) => receive(shop, event),
    onError: (error) => {
      const what = error instanceof WebhookVerificationError ? 'was refused' : 'failed and will be sent again';
      shop.log(`a webhook ${what}: ${inOneLine(error)}`);
    },
  });

/** The event is recorded in the transaction that acts on it: it has its effect once, also when the process dies in between. */
async function receive({ db, log }: Shop, event: WebhookEvent): Promise<void> {
  // The other events are only information: goods are shipped only for received money.
  if (event.status !== 'PAID') return;
  const { event_id, payment_id, order_id = '', expected_amount: amount, price } = event;
  await inTransaction(db, async (tx) => {
    if (!(await isNewEvent(tx, event_id))) return;
    // Checks only the order: its payment may not be known yet, if the event arrives before the answer to the creation.
    if ((await findOrder(tx, order_id)) === null) log(`payment ${payment_id} belongs to no order of this shop`);
    else await settle(tx, { order_id, payment_id, amount, ...(price && { price }) });
  });
}
