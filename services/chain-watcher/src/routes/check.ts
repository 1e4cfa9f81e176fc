import { CheckPayingTransfers, ListToldTransfers } from '@quittance/contracts/http/chain-watcher/check.ts';
import type { TransferPosition } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import { invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { checkPayingTransfers, listToldTransfers } from '../store/check.ts';

/** What must always hold between the watcher's transfers and payments, for operators to look at on a running system. They write nothing. */
export const checkRoutes = (db: Queryable): Route[] => [
  callRoute(ListToldTransfers, async ({ query: { network, since, below } }) => {
    if (network === null) throw invalid({ field: 'network', reason: 'is required' });
    const place = below === null ? null : parsePlace(below);
    const page = await listToldTransfers(db, { network, since: since ?? new Date(0), below: place });
    return { transfers: page.transfers, next: page.next && placeText(page.next) };
  }),
  callRoute(CheckPayingTransfers, async ({ body }) => ({
    violations: await checkPayingTransfers(db, body.transfers),
  })),
];

const placeText = ({ block_number, transaction_id, transaction_event_index }: TransferPosition): string =>
  `${block_number}-${transaction_id}-${transaction_event_index}`;

function parsePlace(text: string): TransferPosition {
  const [, block, id, index] = /^(\d{1,15})-([0-9a-f]{64})-(\d{1,9})$/.exec(text) ?? [];
  if (block === undefined || id === undefined || index === undefined)
    throw invalid({ field: 'below', reason: 'must be the next of a page' });
  return { block_number: Number(block), transaction_id: id, transaction_event_index: Number(index) };
}
