import { defineCall, json, object } from '../../call.ts';
import { fields } from '../../messages/fields.ts';
import { query } from '../../query.ts';
import { checkedList, type Violation } from '../check.ts';
import type { CheckedPayment } from '../payments/check.ts';

/** Their states in payments; see CheckPayments. */
type Asked = { payments: Pick<CheckedPayment, 'payment_id' | 'state'>[] };

/**
 * Checks the events of these payments: each payment published as paid has one PAID event, no other has one, and every
 * unsent event is due or was sent. `read_at` is when payments read the states, by its database's clock. `events` is how
 * many events they have.
 */
export const CheckEvents = defineCall(
  'webhook-dispatcher',
  'POST /check/events',
  json<{ events: number; violations: Violation[] }>(),
  {
    access: 'support',
    idempotent: true,
    query: { read_at: query.timestamp },
    body: object<Asked>({
      payments: checkedList({
        payment_id: fields.paymentId,
        state: { type: 'string', enum: ['open', 'paid', 'told'] },
      }),
    }),
  },
);
