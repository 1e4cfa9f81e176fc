/* The transfer that pays a payment, as a merchant reads it. */

/** More blocks; the chain's own statement that the block is final; a second endpoint that also shows the transfer, or its block. */
const waitingFor = ['confirmations', 'finality', 'second_endpoint'] as const;
export type WaitingFor = (typeof waitingFor)[number];

/** Without trailing zeros. */
export const SENT_AMOUNT_PATTERN = '^(0|[1-9]\\d*)(\\.\\d+)?$';

export const transaction = {
  description: 'The transfer that pays a payment.',
  type: 'object',
  required: [
    'transaction_id',
    'transaction_event_index',
    'block_number',
    'block_timestamp',
    'amount',
    'accepted',
    'confirmations',
    'confirmations_required',
    'waiting_for',
  ],
  properties: {
    transaction_id: { $ref: '#/components/schemas/TransactionId' },
    transaction_event_index: { $ref: '#/components/schemas/TransactionEventIndex' },
    block_number: { type: 'integer', minimum: 0, description: 'The block that contains it.' },
    block_timestamp: {
      description: 'The timestamp of that block.',
      $ref: '#/components/schemas/Timestamp',
    },
    amount: {
      description:
        'The amount transferred, in USDT, without trailing zeros. It differs from the amount of the payment only ' +
        'if the transfer was accepted.',
      type: 'string',
      pattern: SENT_AMOUNT_PATTERN,
    },
    accepted: {
      description: 'Whether a person accepted it. False if its amount and time decided.',
      type: 'boolean',
    },
    confirmations: {
      type: 'integer',
      minimum: 0,
      description: 'The number of blocks that confirm it, as far as known now.',
    },
    confirmations_required: {
      type: 'integer',
      minimum: 0,
      description: 'The number of confirmations that this network requires.',
    },
    waiting_for: {
      description:
        'What the payment needs before it becomes `PAID`. `confirmations`: more blocks. `finality`: the network ' +
        'must declare the block final, which is required for large amounts, and on some networks for all. ' +
        '`second_endpoint`: a second node must report the transfer or its block, which is required for large amounts, ' +
        'and on some networks for all. Null if the payment is `PAID`, or if nothing is missing.',
      anyOf: [{ type: 'string', enum: waitingFor }, { type: 'null' }],
    },
  },
} as const;
