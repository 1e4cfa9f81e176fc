import { defineCall, json, object } from '../../call.ts';
import { fields } from '../../messages/fields.ts';
import { query } from '../../query.ts';
import { checkedList, type Violation } from '../check.ts';
import type { CheckedPayment } from '../payments/check.ts';

/** What payments says of them; see CheckPayments. */
type Asked = { payments: Pick<CheckedPayment, 'payment_id' | 'state'>[] };

/**
 * Looks at the events of these payments: each that was told as paid has one PAID event, no other has one, and what is to be sent is due
 * or was sent. `read_at` is when payments said so, by its database's clock. `events` is how many they have.
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
