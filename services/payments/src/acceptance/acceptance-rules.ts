import type { Finding } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import type { ChainProof } from '../store/acceptance.ts';
import type { PaymentRow } from '../store/payment.ts';
import type { TransferRow } from '../store/transfer.ts';

/**
 * @param concerned the merchant whose payment the transfer is nearest to; nobody else's may take it where merchants share a wallet.
 * @returns why this transfer cannot be accepted for this payment, in a sentence for the operator; null when it can.
 */
export function refusalReason(payment: PaymentRow, transfer: TransferRow, concerned: string): string | null {
  const { payment_id: paymentId, status } = payment;
  if (transfer.payment_id === paymentId) return `This transfer pays ${paymentId} by itself: there is nothing to accept`;
  if (transfer.payment_id !== null) return `This transfer pays another payment, ${transfer.payment_id}`;
  if (status === 'PAID') return `${paymentId} is PAID already`;
  if (status === 'CHECKING') return `${paymentId} is CHECKING: another transfer is about to pay it`;
  if (transfer.phase === 'retracted') return 'This transfer is gone from the chain';
  if (transfer.network !== payment.network || transfer.recipient !== payment.recipient)
    return `This transfer went to another wallet than ${paymentId} asks for`;
  const { related_payment_id: relatedId } = transfer;
  if (concerned !== payment.merchant_id)
    return relatedId === null
      ? `This transfer came while its wallet belonged to another merchant, ${concerned}`
      : `This transfer is nearest to a payment of another merchant: ${relatedId} of ${concerned}`;
  if (transfer.match_status === 'pending' && relatedId !== paymentId)
    return `This transfer came in time for another payment, ${relatedId}, and pays it once it is confirmed`;
  return null;
}

/** @returns what the chain shows in support of the ledger's row, or in a sentence why that is not enough. */
export function proveTransfer(transfer: TransferRow, finding: Finding): ChainProof | string {
  if (finding.finding !== 'present') return findingReasons[finding.reason];
  const different = differences(transfer, finding);
  if (different.length > 0) return `The chain has another transfer there than the ledger: ${different.join('; ')}`;
  if (!finding.is_final) {
    const { confirmations, confirmations_required: required } = finding;
    return `This transfer is not final yet: it has ${confirmations} confirmations, and the network asks for ${required} or more`;
  }
  return finding;
}

/** A reason without a row here does not compile. */
const findingReasons: Record<Exclude<Finding, { finding: 'present' }>['reason'], string> = {
  no_receipt: 'The chain does not have this transaction now',
  orphaned: 'The block of this transaction is not in the chain any more',
  failed: 'This transaction failed on chain: it moved nothing',
  no_event: 'This transaction has no event at this position',
  no_transfer: 'The event at this position is no transfer of USDT',
  network_unknown: 'chain-watcher does not follow this network, so the chain cannot be checked',
  network_halted: 'chain-watcher has halted this network: its incident there comes first',
};

function differences(transfer: TransferRow, found: Extract<Finding, { finding: 'present' }>): string[] {
  const compared: [name: string, ledger: string | number, chain: string | number][] = [
    ['recipient', transfer.recipient, found.to],
    ['sender', transfer.sender, found.from],
    ['amount_units', transfer.amount_units, found.amount_units],
    ['decimals', transfer.decimals, found.decimals],
    ['block_hash', transfer.block_hash, found.block_hash],
  ];
  return compared
    .filter(([, ledger, chain]) => ledger !== chain)
    .map(([name, ledger, chain]) => `${name} ${chain} instead of ${ledger}`);
}
