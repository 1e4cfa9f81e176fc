import { paymentProperties, type Fields } from './payment.ts';
import { SENT_AMOUNT_PATTERN } from './transaction.ts';

/*
 * The proof that a payment was paid on its chain. The SDK's verifier reads it, and docs/vectors/payment-proofs.json has
 * samples.
 */

/**
 * The most transfers in a proof. So many surely fit into an answer of 2 MiB: chain-watcher keeps branches of up to
 * 64 KiB, and each transfer is answered with its branch and its receipt, in hex.
 */
export const PROVEN_TRANSFERS_MAX = 7;

const hex = { type: 'string', pattern: '^0x([0-9a-f]{2})+$' } as const;
const position = { type: 'integer', minimum: 0 } as const;

const { payment_id, amount, merchant_wallet, network, description, created_at } = paymentProperties;

const provedPayment = {
  payment_id,
  amount,
  accepted_amount: {
    description:
      'What the transfers add up to, in USDT. Only if the payment counts as paid with less than `amount`: by its ' +
      '`accept_from_percent`, or because a person accepted a transfer.',
    type: 'string',
    pattern: SENT_AMOUNT_PATTERN,
  },
  merchant_wallet,
  network,
  description,
  created_at,
  paid_at: { description: 'When it became `PAID`.', $ref: '#/components/schemas/Timestamp' },
} as const;

const block = {
  number: position,
  hash: {
    description: 'With 0x. Compare it with a source that you trust.',
    type: 'string',
    pattern: '^0x[0-9a-f]{64}$',
  },
  timestamp: { $ref: '#/components/schemas/Timestamp' },
  header: { ...hex, description: 'The header as RLP. Its Keccak-256 is the hash of the block.' },
} as const;

const provedReceipt = {
  transaction_id: { $ref: '#/components/schemas/TransactionId' },
  index: { ...position, description: 'The position of the transaction in its block, from 0.' },
  rlp: { ...hex, description: 'The receipt as the trie has it: RLP, after the byte of its type.' },
  nodes: {
    description: 'The branch of the receipts trie, from its root to the leaf of the receipt.',
    type: 'array',
    minItems: 1,
    items: hex,
  },
  log_index: { $ref: '#/components/schemas/TransactionEventIndex' },
} as const;

const finality = {
  rule: {
    description:
      'What the network requires of a block: a number of confirmations, or that the chain calls it final too.',
    type: 'string',
    enum: ['confirmations', 'finalized'],
  },
  confirmations: { ...position, description: 'The confirmations of the block when the payment became `PAID`.' },
  agreed_by: { type: 'integer', minimum: 1, description: 'How many nodes showed the block as final, at least.' },
} as const;

const objectOf = <Properties extends object>(
  properties: Properties,
  { optional = [] as readonly string[], ...more }: { optional?: readonly string[]; description?: string } = {},
) => ({
  ...more,
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});

export const paymentProof = objectOf(
  {
    version: { const: 1 },
    payment: objectOf(provedPayment, { optional: ['accepted_amount'] }),
    chain_id: { type: 'integer', minimum: 1 },
    token: { description: 'The contract of the token, in lowercase.', type: 'string', pattern: '^0x[0-9a-f]{40}$' },
    block: objectOf(block),
    receipts: {
      description: 'One entry for each transfer that pays the payment. All are in the same block.',
      type: 'array',
      minItems: 1,
      maxItems: PROVEN_TRANSFERS_MAX,
      items: objectOf(provedReceipt),
    },
    finality: objectOf(finality, { description: 'How we knew that the block is final. The proof does not prove it.' }),
  },
  {
    description:
      'Shows that a payment was paid, to anybody who trusts the hash of one block. Hex is lowercase with 0x.',
  },
);

export type PaymentProof = {
  version: 1;
  payment: Omit<Fields<typeof provedPayment>, 'accepted_amount'> & { accepted_amount?: string };
  chain_id: number;
  token: string;
  block: Fields<typeof block>;
  receipts: (Omit<Fields<typeof provedReceipt>, 'nodes'> & { nodes: string[] })[];
  finality: Fields<typeof finality>;
};
