import { defineMessage } from '../message.ts';
import { fields } from './fields.ts';

/**
 * What is known of a USDT transfer to a watched wallet. Published by chain-watcher, consumed by payments.
 * `seen`: in a block of the canonical chain. `confirmed`: deep enough to trust. `retracted`: its block was reorganised away.
 */
export type TransferObserved = {
  /** The merchant for whom the wallet is watched; for sharding. Who is paid, payments decides. */
  merchant_id: string;
  network: string;
  /** 64 lowercase hex characters, no 0x. */
  transaction_id: string;
  /** Position of the event in the receipt's full log list, from 0. Source: the API contract, "Webhook event". */
  transaction_event_index: number;
  block_number: number;
  /** 0x and 64 lowercase hex characters. */
  block_hash: string;
  block_timestamp: string;
  /** Canonical address of the sender. */
  from: string;
  /** Canonical address of the recipient. */
  to: string;
  /** Base units of the token, decimal integer text. */
  amount_units: string;
  decimals: number;
  phase: 'seen' | 'confirmed' | 'retracted';
  /** Grows with each observation of this transfer; a lower version is outdated and ignored. */
  version: number;
  confirmations: number;
  confirmations_required: number;
};

export const TransferObserved = defineMessage<TransferObserved>({
  name: 'TransferObserved',
  version: 1,
  published_by: 'chain-watcher',
  properties: {
    merchant_id: fields.merchantId,
    network: fields.network,
    transaction_id: fields.transactionId,
    transaction_event_index: fields.count,
    block_number: fields.count,
    block_hash: { type: 'string', pattern: '^0x[0-9a-f]{64}$' },
    block_timestamp: fields.timestamp,
    from: fields.address,
    to: fields.address,
    amount_units: { type: 'string', pattern: '^[1-9][0-9]{0,77}$' },
    decimals: fields.count,
    phase: { type: 'string', enum: ['seen', 'confirmed', 'retracted'] },
    version: fields.version,
    confirmations: fields.count,
    confirmations_required: fields.version,
  },
});
