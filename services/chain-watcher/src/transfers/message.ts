import { hash } from 'node:crypto';
import { addressFromHex } from '@quittance/contracts/address.ts';
import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { confirmationsOf } from '@quittance/chain-reader/chain/finality.ts';
import type { TransferRow } from '../store/transfers.ts';

/**
 * The message about a stored transfer.
 * @param confirmingTip height from which confirmations are counted; see finality.ts.
 * @param spell writes an address (20-byte hex with 0x) in the canonical spelling of the network.
 */
export function toTransferObserved(
  network: Pick<Network, 'id' | 'family' | 'decimals' | 'confirmations'>,
  row: TransferRow,
  confirmingTip: number,
  spell: (hex: string) => string = (hex) => addressFromHex(network.family, hex),
): TransferObserved {
  const blockNumber = Number(row.block_number);
  return {
    merchant_id: row.merchant_id,
    network: network.id,
    transaction_id: row.transaction_id,
    transaction_event_index: row.transaction_event_index,
    block_number: blockNumber,
    block_hash: `0x${row.block_hash}`,
    block_timestamp: rfc3339(row.block_timestamp),
    from: spell(`0x${row.sender}`),
    to: spell(`0x${row.recipient}`),
    amount_units: row.amount_units,
    decimals: network.decimals,
    phase: row.phase,
    version: row.version,
    confirmations: countOf(row, network.confirmations, confirmingTip),
    confirmations_required: network.confirmations,
    first_seen_at: rfc3339(row.first_seen_at),
    live: row.live,
  };
}

/**
 * A confirmed transfer had enough when that was decided, by a head that was known then. Counted from the tip alone, as after a restart,
 * it may have fewer.
 */
function countOf({ phase, block_number: block }: TransferRow, required: number, confirmingTip: number): number {
  if (phase === 'retracted') return 0;
  return Math.max(confirmationsOf(Number(block), confirmingTip), phase === 'confirmed' ? required : 0);
}

/** For many messages, which name the same addresses again: a checksum takes longer than anything else in a message. */
export function createSpelling(family: Network['family']): (hex: string) => string {
  const known = new Map<string, string>();
  return (hex) => {
    const spelled = known.get(hex) ?? addressFromHex(family, hex);
    known.set(hex, spelled);
    return spelled;
  };
}

/**
 * The same id for the same observation, so that a consumer's inbox drops repetitions. The version is part of it because a
 * block may be orphaned and come back: the second observation is news.
 * @returns a UUID of version 8 (RFC 9562): our own bits.
 */
export function messageIdOf(network: string, row: TransferRow): string {
  const parts = [network, row.transaction_id, row.transaction_event_index, row.block_hash, row.phase, row.version];
  const hex = hash('sha256', parts.join('|'), 'hex');
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3] ?? '8';
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
