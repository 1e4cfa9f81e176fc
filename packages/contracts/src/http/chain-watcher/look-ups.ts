import { defineCall, json, object } from '../../call.ts';
import { fields } from '../../messages.ts';

/** A transfer of USDT in a transaction that was looked up. Canonical addresses; base units of the token. */
export type LookedUpTransfer = {
  transaction_event_index: number;
  from: string;
  to: string;
  amount_units: string;
  decimals: number;
};

/**
 * A transaction as the enabled networks show it now. It helps people to find their money; it is not proof of anything.
 */
export type LookedUp =
  /** Every enabled network has answered and doesn't know the transaction. */
  | { outcome: 'unknown' }
  /** `budget`: the limit of look-ups is reached. `no_answer`: a network that might know it did not answer in time. */
  | { outcome: 'not_read_yet'; reason: 'budget' | 'no_answer' }
  /** Known, but not in a block of the canonical chain. */
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
      /** The recipients of other tokens or of the network's own coin; canonical addresses. */
      other_recipients: string[];
    };

/**
 * Whose budget pays for a look-up. A merchant's customers have half of it, so that they can't use up the whole. The
 * first look-ups of each of their links are free.
 */
export type LookUpAccount = {
  merchant_id: string;
  by: 'merchant' | 'customer';
  /** Hex SHA-256 of the customer's public token; absent from an older release. */
  link?: string;
  /** Hex SHA-256 of the customer's address; absent if unknown. */
  client?: string;
};

/**
 * Looks a transaction up on all enabled networks, starting with `first` alone. Always 200: if it can't be read now, the
 * outcome is `not_read_yet`. Without an account, only the providers' share is counted.
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

/** The most wallets in one request. */
export const WALLETS_MAX = 100;

/**
 * Which of these wallets (canonical addresses) are frozen by the issuer of the network's token, so that nothing can be sent from them. The
 * answer comes immediately and holds what is known. A wallet that was not checked in the last ten minutes is checked after the answer. Until
 * then, and when the token has no such list or the network is not enabled, it is not listed. It is one endpoint's word: use it for warnings,
 * not for decisions about money.
 */
export const ReadWalletStates = defineCall(
  'chain-watcher',
  'POST /wallets/states',
  json<{ blacklisted: string[] }>({
    type: 'object',
    required: ['blacklisted'],
    properties: { blacklisted: { type: 'array', items: { type: 'string' } } },
  }),
  {
    callers: ['payments'],
    body: object<{ network: string; addresses: string[] }>({
      network: { type: 'string' },
      addresses: { type: 'array', maxItems: WALLETS_MAX, items: { type: 'string' } },
    }),
    idempotent: true,
    changes: false,
  },
);
