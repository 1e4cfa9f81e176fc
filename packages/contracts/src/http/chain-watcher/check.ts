import { defineCall, json, object } from '../../call.ts';
import { query } from '../../query.ts';
import { checkedList, type Violation } from '../check.ts';
import { transferKeyProperties, type ToldTransfer, type TransferKey } from '../payments/check.ts';

/**
 * The transfers of a network in blocks from `since` on that were completely published a while ago, newest first, in
 * pages. Pass `next` as `below`; it is null at the end. A page may be empty before the end.
 */
export const ListToldTransfers = defineCall(
  'chain-watcher',
  'GET /check/transfers',
  json<{ transfers: ToldTransfer[]; next: string | null }>(),
  { access: 'support', query: { network: query.text, since: query.timestamp, below: query.text } },
);

/** Whether these transfers, which pay payments, are on chain as far as chain-watcher knows. */
export const CheckPayingTransfers = defineCall(
  'chain-watcher',
  'POST /check/transfers',
  json<{ violations: Violation[] }>(),
  {
    access: 'support',
    idempotent: true,
    maxBodyBytes: 256 * 1024,
    body: object<{ transfers: TransferKey[] }>({ transfers: checkedList(transferKeyProperties) }),
  },
);
