import { EVENT_INDEX_MAX } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import type { AcceptedTransfer } from '@quittance/contracts/http/payments/acceptance.ts';
import { FindMerchantTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { parseTransactionId } from '@quittance/contracts/ids.ts';
import { CANDIDATES_MAX } from '@quittance/contracts/api/payment.ts';
import { query } from '@quittance/contracts/query.ts';
import { readQuery } from '@quittance/http/server/call-route.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import { invalid, type ValidationItem } from '@quittance/http/errors.ts';
import { readValidJson } from '../request-body.ts';
import { shapeOf } from './shape.ts';

const shape = shapeOf({
  required: ['transaction_id', 'transaction_event_index'],
  properties: {
    transaction_id: { type: 'string' },
    transaction_event_index: { type: 'integer', minimum: 0, maximum: EVENT_INDEX_MAX },
    confirm_candidates: { type: 'integer', minimum: 1, maximum: CANDIDATES_MAX },
  },
});

/**
 * Reads which transfer to accept, and the number of payments that the client confirms it may be for.
 * @throws HttpError 413 for a body over 64 KiB, 422 with every invalid field.
 */
export async function readAcceptedTransfer(request: RouteRequest): Promise<AcceptedTransfer> {
  const body = await readValidJson(request, (value) => {
    const { transaction_id: id } = value;
    const problems: ValidationItem[] = shape(value);
    if (typeof id === 'string' && parseTransactionId(id) === null)
      problems.push({ field: 'transaction_id', reason: query.transactionId.reason });
    return problems;
  });
  return {
    transaction_id: parseTransactionId(String(body['transaction_id'])) ?? '',
    transaction_event_index: Number(body['transaction_event_index']),
    ...('confirm_candidates' in body && { confirm_candidates: Number(body['confirm_candidates']) }),
  };
}

/** The required `transaction_id` of a query. @throws HttpError 422. */
export function readTransactionQuery(given: URLSearchParams): { transaction_id: string } {
  const { transaction_id: id } = readQuery(FindMerchantTransfers.query, given);
  if (id === null) throw invalid({ field: 'transaction_id', reason: 'is required' });
  return { transaction_id: id };
}
