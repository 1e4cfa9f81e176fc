import { table } from '../text.ts';
import type { FailedEvent, Retried } from '../webhook-events.ts';

export const failedView = ({ events }: { events: readonly FailedEvent[] }): string =>
  table(events, [
    ['event', (event) => event.event_id],
    ['merchant', (event) => event.merchant_id],
    ['payment', (event) => event.payment_id],
    ['last attempt', (event) => event.last_attempt_at],
    ['attempts', (event) => event.attempts],
    ['cycle', (event) => event.cycle],
    ['error', (event) => event.error_category],
  ]);

export const retriedView = ({ events }: { events: readonly Retried[] }): string =>
  table(events, [
    ['event', (event) => event.event_id],
    ['payment', (event) => event.delivery?.payment_id],
    ['result', (event) => event.outcome],
    ['why not', (event) => event.reason],
  ]);
