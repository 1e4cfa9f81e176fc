import { EVENT_INDEX_MAX, type TransferId } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import { parseTransactionId } from '@quittance/contracts/ids.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import type { ValidationItem } from '@quittance/http/errors.ts';
import { readValidJson } from './json-body.ts';
import { shapeOf } from './shape.ts';

const REASON = 'must be 64 hexadecimal characters, with or without 0x before them';

const shape = shapeOf({
  required: ['transaction_id', 'transaction_event_index'],
  properties: {
    transaction_id: { type: 'string' },
    transaction_event_index: { type: 'integer', minimum: 0, maximum: EVENT_INDEX_MAX },
  },
});

/** Names one transfer of a transaction. @throws HttpError 413 for a body over 64 KiB, 422 with every invalid field. */
export async function readTransferId(request: RouteRequest): Promise<Omit<TransferId, 'network'>> {
  const body = await readValidJson(request, (value) => {
    const { transaction_id: id } = value;
    const problems: ValidationItem[] = shape(value);
    if (typeof id === 'string' && parseTransactionId(id) === null)
      problems.push({ field: 'transaction_id', reason: REASON });
    return problems;
  });
  return {
    transaction_id: parseTransactionId(String(body['transaction_id'])) ?? '',
    transaction_event_index: Number(body['transaction_event_index']),
  };
}
