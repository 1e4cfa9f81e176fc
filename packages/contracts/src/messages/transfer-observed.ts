import { defineMessage, type BodyOfMessage } from '../message.ts';
import { fields } from './fields.ts';

/**
 * The state of a USDT transfer to a watched wallet. Published by chain-watcher, consumed by payments.
 * `seen`: in a block of the canonical chain. `confirmed`: deep enough to trust. `retracted`: its block was reorganised
 * away.
 */
export const TransferObserved = defineMessage({
  name: 'TransferObserved',
  version: 1,
  published_by: 'chain-watcher',
  properties: {
    /** The merchant for whom the wallet is watched; for sharding. payments decides who is paid. */
    merchant_id: fields.merchantId,
    network: fields.network,
    transaction_id: fields.transactionId,
    transaction_event_index: fields.eventIndex,
    block_number: fields.count,
    /** 0x and 64 lowercase hex characters. */
    block_hash: { type: 'string', pattern: '^0x[0-9a-f]{64}$' },
    block_timestamp: fields.timestamp,
    /** Canonical address of the sender. */
    from: fields.address,
    /** Canonical address of the recipient. */
    to: fields.address,
    amount_units: fields.tokenUnits,
    decimals: fields.count,
    phase: { type: 'string', enum: ['seen', 'confirmed', 'retracted'] },
    /** Grows with each observation of this transfer; a lower version is outdated and ignored. */
    version: fields.version,
    confirmations: fields.count,
    confirmations_required: fields.version,
  },
  optional: {
    /**
     * When chain-watcher first read any block with this transfer, by its database's clock. Absent in messages of
     * releases up to 0.2.0, which means unknown and not live.
     */
    first_seen_at: fields.timestamp,
    /**
     * Whether the network was being read without a gap: the previous read was at most 15 s earlier, and its head was
     * below this block.
     */
    live: { type: 'boolean' },
  },
});

export type TransferObserved = BodyOfMessage<typeof TransferObserved>;
