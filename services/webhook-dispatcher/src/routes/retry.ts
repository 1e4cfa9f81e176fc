import { HttpError } from '@quittance/http/errors.ts';
import { route } from '@quittance/http/server/route.ts';
import type { Reply, Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { byMerchant } from '../store/audit.ts';
import { startCycle } from '../store/retry.ts';
import type { RetryResult } from '../store/retry.ts';
import { eventIdOf, merchantIdOf } from './params.ts';

/**
 * A merchant has a failed event delivered anew: 202 with the record, 409 while it is pending or once it is delivered, 404 when it
 * does not exist or is another merchant's.
 * @param dependencies.wake has the deliver loop look at once.
 */
export const retryRoute = ({ pool, wake }: { pool: Pool; wake: () => void }): Route =>
  route({
    method: 'POST',
    path: '/internal/v1/merchants/:merchant_id/events/:event_id/retry',
    handle: async (request) => {
      const [eventId, merchantId] = [eventIdOf(request), merchantIdOf(request)];
      const result = await transaction(pool, (tx) =>
        startCycle(tx, { eventId, merchantId, action: 'event_retried', author: byMerchant }),
      );
      const reply = replyTo(result);
      wake();
      return reply;
    },
  });

/** @throws HttpError 404 or 409 when no cycle was started. */
export function replyTo(result: RetryResult): Reply {
  switch (result.outcome) {
    case 'started':
      return { status: 202, body: result.delivery };
    case 'refused':
      throw new HttpError(409, 'Only a failed webhook event can be retried');
    case 'unknown_event':
      throw new HttpError(404, 'Webhook event not found');
  }
}
