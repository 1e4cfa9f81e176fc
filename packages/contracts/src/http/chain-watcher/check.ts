import { defineCall, json, object } from '../../call.ts';
import { query } from '../../query.ts';
import { checkedList, type Violation } from '../check.ts';
import { transferKeyProperties, type ToldTransfer, type TransferKey } from '../payments/check.ts';

/**
 * The transfers of a network in blocks from `since` on of which everything was told a while ago, newest first, a page at a time. `next`
 * goes into `below`; it is null at the end, and a page may be empty before.
 */
export const ListToldTransfers = defineCall(
  'chain-watcher',
  'GET /check/transfers',
  json<{ transfers: ToldTransfer[]; next: string | null }>(),
  { access: 'support', query: { network: query.text, since: query.timestamp, below: query.text } },
);

/** Whether these transfers, which pay payments, are on chain as far as the watcher knows. */
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
