import { defineCall, json, object } from '../../call.ts';
import { fields } from '../../messages/fields.ts';
import { query } from '../../query.ts';
import { checkedList, type Violation } from '../check.ts';
import type { CreatedPayments } from '../payments/check.ts';

/** Whether the usage history has as many payments of these merchants, created before `until`, as payments has. */
export const CheckUsage = defineCall('quota', 'POST /check/usage', json<{ violations: Violation[] }>(), {
  access: 'support',
  idempotent: true,
  query: { until: query.timestamp },
  body: object<{ merchants: CreatedPayments[] }>({
    merchants: checkedList({ merchant_id: fields.merchantId, created: fields.count }),
  }),
});
