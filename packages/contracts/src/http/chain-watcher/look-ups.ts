import { defineCall, json, object } from '../../call.ts';
import { fields } from '../../messages/fields.ts';

/** A transfer of USDT in a transaction that was looked up. Canonical addresses; base units of the token. */
export type LookedUpTransfer = {
  transaction_event_index: number;
  from: string;
  to: string;
  amount_units: string;
  decimals: number;
};

/** A transaction as the networks that are on show it now. It helps people to find their money, and is no proof of anything. */
export type LookedUp =
  /** Every network that is on has answered, and knows no such transaction. */
  | { outcome: 'unknown' }
  /** `budget`: as much has been looked up as may be. `no_answer`: a network that might know it did not answer in time. */
  | { outcome: 'not_read_yet'; reason: 'budget' | 'no_answer' }
  /** Known, and in no block that stands. */
  | { outcome: 'pending'; network: string }
  | { outcome: 'failed'; network: string; block_timestamp: string }
  | {
      outcome: 'mined';
      network: string;
      block_number: number;
      block_timestamp: string;
      /** Whether the scan has passed its block, and whether it was final by then. */
      is_scanned: boolean;
      is_final: boolean;
      transfers: LookedUpTransfer[];
      /** Who got another token, or the network's own coin; canonical addresses. */
      other_recipients: string[];
    };

/**
 * In whose budget a look-up falls. A merchant's customers have a half of it, so that none of them can use up the whole; the first questions
 * of each of their links are not taken from it.
 */
export type LookUpAccount = {
  merchant_id: string;
  by: 'merchant' | 'customer';
  /** Hex SHA-256 of the customer's public token; absent from an older release. */
  link?: string;
  /** Hex SHA-256 of the customer's address; absent where it is not known. */
  client?: string;
};

/**
 * Looks a transaction up on all networks that are on, the one named first alone at first. Always 200: what cannot be read now is
 * `not_read_yet`. Without an account nothing is counted but the providers' share.
 */
export const LookUpTransaction = defineCall('chain-watcher', 'POST /transactions/look-up', json<LookedUp>(), {
  callers: ['payments'],
  body: object<{ transaction_id: string; first?: string; account?: LookUpAccount }>(
    {
      transaction_id: fields.transactionId,
      first: { type: 'string' },
      account: {
        type: 'object',
        required: ['merchant_id', 'by'],
        properties: {
          merchant_id: { type: 'string' },
          by: { enum: ['merchant', 'customer'] },
          link: fields.sha256,
          client: fields.sha256,
        },
      },
    },
    { optional: ['first', 'account'] },
  ),
  idempotent: true,
  changes: false,
});
