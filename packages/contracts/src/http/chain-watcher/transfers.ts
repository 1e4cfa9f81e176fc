import { defineCall, json, object } from '../../call.ts';
import { fields, TransferObserved } from '../../messages.ts';
import { timestampSchema } from '../../timestamp.ts';

/**
 * Transfers to one wallet that may have been made at or after `from` and before `to`; with `amount` (decimal text) only
 * those of that amount. For a payment, `from` is `created_at` and `to` is `expires_at`, unchanged.
 */
export type TransferWindow = { recipient: string; amount?: string; from: string; to: string };

export type TransfersInWindows = {
  /**
   * Every transfer to these recipients with an earlier block timestamp is known and final. Null when there is no such
   * time: the wallet is new or still being back-filled, the window begins before its wallet was watched, or the network
   * is halted or unknown.
   */
  scanned_through: string | null;
  transfers: TransferObserved[];
};

/** A transfer's position in the order of answers: by block, then by transaction and event. */
export type TransferPosition = Pick<TransferObserved, 'block_number' | 'transaction_id' | 'transaction_event_index'>;

/** The most transfers in one page. */
export const TRANSFERS_PAGE_MAX = 1_000;

/**
 * The transfers in these windows, and how far the chain is scanned for them; without windows, how far the network
 * itself is scanned.
 * A transfer has an interval: from its block's timestamp to its `first_seen_at` if it is `live`, otherwise to 15 s
 * after the timestamp. The ends are swapped when the chain's clock is ahead. The transfer is in a window when the
 * interval overlaps the window and the block's timestamp is less than 150 s outside. `from` is cut to whole seconds.
 * `first_seen_at` is by the clock of chain-watcher's database; a caller with a different clock must widen its windows.
 * With `page`, returns at most `limit` transfers, those after `after`. An answer with `limit` transfers may have a next
 * page. `scanned_through` on each page holds for all pages together. Without `page`, 422 for more than 10,000.
 * The route itself checks addresses, amounts and times. payments calls it before it lets a payment expire.
 */
export const FindTransfersInWindows = defineCall(
  'chain-watcher',
  'POST /transfers/in-windows',
  json<TransfersInWindows>({
    type: 'object',
    required: ['scanned_through', 'transfers'],
    properties: {
      scanned_through: { ...timestampSchema, type: ['string', 'null'] },
      transfers: { type: 'array', items: TransferObserved.schema },
    },
  }),
  {
    callers: ['payments'],
    body: object<{ network: string; windows: TransferWindow[]; page?: { limit: number; after?: TransferPosition } }>(
      {
        network: { type: 'string' },
        page: {
          type: 'object',
          required: ['limit'],
          properties: {
            limit: { type: 'integer', minimum: 1, maximum: TRANSFERS_PAGE_MAX },
            after: {
              type: 'object',
              required: ['block_number', 'transaction_id', 'transaction_event_index'],
              properties: {
                block_number: TransferObserved.schema.properties.block_number,
                transaction_id: fields.transactionId,
                transaction_event_index: TransferObserved.schema.properties.transaction_event_index,
              },
            },
          },
        },
        windows: {
          type: 'array',
          maxItems: 100,
          items: {
            type: 'object',
            required: ['recipient', 'from', 'to'],
            properties: {
              recipient: { type: 'string' },
              amount: { type: 'string' },
              from: { type: 'string' },
              to: { type: 'string' },
            },
          },
        },
      },
      { optional: ['page'] },
    ),
    idempotent: true,
    changes: false,
  },
);

export type TransferId = { network: string; transaction_id: string; transaction_event_index: number };

/** The fields that describe a transfer on chain. */
const describing = [
  'block_number',
  'block_hash',
  'block_timestamp',
  'from',
  'to',
  'amount_units',
  'decimals',
  'confirmations',
  'confirmations_required',
] as const satisfies (keyof TransferObserved)[];

/**
 * No endpoint shows the transfer: no receipt, a receipt of a block off the chain, a failed transaction, no such event,
 * or a different event.
 */
export const absences = ['no_receipt', 'orphaned', 'failed', 'no_event', 'no_transfer'] as const;
export const indecisions = ['network_unknown', 'network_halted'] as const;

/**
 * What the chain shows of a transfer now. `undecided`: the answers of this network's endpoints don't count at the
 * moment.
 */
export type Finding =
  | ({ finding: 'present'; is_final: boolean } & Pick<TransferObserved, (typeof describing)[number]>)
  | { finding: 'absent'; reason: (typeof absences)[number] }
  | { finding: 'undecided'; reason: (typeof indecisions)[number] };

/** The largest value of the ledger's column. */
export const EVENT_INDEX_MAX = 2 ** 31 - 1;

export const transferIdSchemas = {
  transaction_id: fields.transactionId,
  transaction_event_index: { type: 'integer', minimum: 0, maximum: EVENT_INDEX_MAX },
} as const;

/**
 * Reads a transfer from the chain again, ignoring stored data, even for wallets that are no longer watched. 503 when no
 * endpoint gives a usable answer in time. payments calls it before an operator makes a transfer pay a payment.
 */
export const VerifyTransfer = defineCall(
  'chain-watcher',
  'POST /transfers/verify',
  json<Finding>({
    type: 'object',
    anyOf: [
      findingSchema('present', {
        is_final: { type: 'boolean' },
        ...Object.fromEntries(describing.map((field) => [field, TransferObserved.schema.properties[field]])),
      }),
      findingSchema('absent', { reason: { enum: absences } }),
      findingSchema('undecided', { reason: { enum: indecisions } }),
    ],
  }),
  {
    callers: ['payments'],
    body: object<TransferId>({ network: { type: 'string' }, ...transferIdSchemas }),
    idempotent: true,
    changes: false,
  },
);

function findingSchema(finding: Finding['finding'], properties: object): object {
  return {
    type: 'object',
    required: ['finding', ...Object.keys(properties)],
    properties: { finding: { const: finding }, ...properties },
  };
}

/** What proves a transfer to somebody who trusts the hash of its block. Hex has 0x. */
export type TransferProof = Pick<TransferId, 'transaction_id' | 'transaction_event_index'> &
  Pick<TransferObserved, 'block_number' | 'block_hash' | 'block_timestamp'> & {
    /** How many endpoints agreed about the block; null for a transfer of an earlier release. */
    agreed_by: number | null;
    /** Of the transaction in its block, from 0. */
    transaction_index: number;
    /** The block's header as RLP. */
    header: string;
    /** The branch of the receipts trie, from its root to the receipt's leaf. */
    nodes: string[];
    /** The receipt as its leaf has it. */
    receipt: string;
  };

const HEX = { type: 'string', pattern: '^0x([0-9a-f]{2})+$' } as const;

/** The most transfers in one question about proofs. */
export const PROOFS_MAX = 100;

/**
 * What proves these transfers. A transfer is left out when it is not confirmed, or when nothing was kept that proves
 * it: it is older than release 0.3.0, its receipt is too large, or the network's blocks are not proven.
 */
export const ReadTransferProofs = defineCall(
  'chain-watcher',
  'POST /transfers/proofs',
  json<{ proofs: TransferProof[] }>({
    type: 'object',
    required: ['proofs'],
    properties: {
      proofs: {
        type: 'array',
        items: {
          type: 'object',
          required: [
            ...['transaction_id', 'transaction_event_index', 'block_number', 'block_hash', 'block_timestamp'],
            ...['agreed_by', 'transaction_index', 'header', 'nodes', 'receipt'],
          ],
          properties: {
            ...transferIdSchemas,
            block_number: TransferObserved.schema.properties.block_number,
            block_hash: TransferObserved.schema.properties.block_hash,
            block_timestamp: timestampSchema,
            agreed_by: { type: ['integer', 'null'] },
            transaction_index: { type: 'integer', minimum: 0 },
            header: HEX,
            nodes: { type: 'array', items: HEX },
            receipt: HEX,
          },
        },
      },
    },
  }),
  {
    callers: ['payments'],
    body: object<{ network: string; transfers: Pick<TransferId, 'transaction_id' | 'transaction_event_index'>[] }>({
      network: { type: 'string' },
      transfers: {
        type: 'array',
        minItems: 1,
        maxItems: PROOFS_MAX,
        items: {
          type: 'object',
          required: ['transaction_id', 'transaction_event_index'],
          properties: transferIdSchemas,
        },
      },
    }),
    idempotent: true,
    changes: false,
  },
);
