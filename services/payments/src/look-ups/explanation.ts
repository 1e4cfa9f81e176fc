import type { LookedUp } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import type { ExplanationCode, FoundTransfer } from '@quittance/contracts/http/payments/look-ups.ts';
import type { UnmatchedReason, WaitingFor } from '@quittance/contracts/payment.ts';

export type Explanation = { explanation: string; explanation_code: ExplanationCode };

/** Of the transfers of one transaction that the ledger has, at least one. The best that became of any of them is said. */
export function explainTransfers(transfers: readonly FoundTransfer[]): Explanation {
  const standing = transfers.filter(({ state }) => state !== 'retracted');
  // A closed payment is a candidate of the transfer that pays it as soon as that is confirmed.
  const paying = standing.filter(({ payment_id: id, reason }) => id !== null && reason === null);
  if (paying.length > 0) return say('pays_payment', paying.map(payingText).join(' '));
  if (standing.length > 0) return say('unmatched', standing.map(unmatchedText).join(' '));
  return say('pending', 'The block that had it is no longer in the chain. It may come into another block.');
}

const waitingTexts: Record<WaitingFor, string> = {
  confirmations: 'more confirmations',
  finality: 'the chain to call its block final',
  second_endpoint: 'a second endpoint to show it',
};

function payingText({ payment_id: id, amount, state, waiting_for: waiting }: FoundTransfer): string {
  if (state === 'confirmed') return `It pays ${String(id)} with ${amount} USDT.`;
  const still = waiting === null ? 'it is confirmed' : `it is confirmed; it waits for ${waitingTexts[waiting]}`;
  return `It pays ${String(id)} with ${amount} USDT once ${still}.`;
}

const reasonTexts: Record<UnmatchedReason, string> = {
  underpaid: 'it is less than the payment asks for',
  overpaid: 'it is more than the payment asks for',
  late: 'it did not come in the time of the payment',
  after_cancel: 'it came after the payment was cancelled',
  duplicate: 'the payment is paid by another transfer',
  ambiguous: 'it may be for another payment as well',
};

function unmatchedText(transfer: FoundTransfer): string {
  const { amount, network, payment_id: id, reason, candidates, candidates_elsewhere: elsewhere } = transfer;
  const reached = `${amount} USDT reached your wallet on ${network} and paid no payment`;
  if (elsewhere)
    return `${reached}: it may be for a payment of another merchant who uses this wallet. Only an operator can accept it.`;
  if (candidates.length > 1)
    return `${reached}: it may be for any of ${candidates.length} payments. Find out whose it is before you accept it for one.`;
  if (id === null || reason === null) return `${reached}: no payment was waiting for it.`;
  return `${reached}: it may be for ${id}, but ${reasonTexts[reason]}. You can accept it for that payment if it carries enough.`;
}

/**
 * Of a transaction that the ledger does not have.
 * @param own those of the addresses in it that are the merchant's wallets.
 */
export function explainLookedUp(lookedUp: LookedUp, own: readonly string[]): Explanation {
  switch (lookedUp.outcome) {
    case 'unknown':
      return say(
        'unknown',
        'It was not found on any enabled network. Check that the id is complete, or ask again later.',
      );
    case 'not_read_yet':
      return say('not_read_yet', notReadTexts[lookedUp.reason]);
    case 'pending':
      return say('pending', `${lookedUp.network} knows it, and no block has it yet.`);
    case 'failed':
      return say('failed', `It failed on ${lookedUp.network} and moved nothing.`);
    case 'mined':
      return explainMined(lookedUp, own);
  }
}

const notReadTexts = {
  budget: 'As much has been looked up for you as may be within an hour. Ask again later.',
  no_answer: 'Not every network has answered. Ask again in some seconds.',
};

function explainMined(mined: Extract<LookedUp, { outcome: 'mined' }>, own: readonly string[]): Explanation {
  const { network, transfers, other_recipients: others, is_scanned: isScanned, is_final: isFinal } = mined;
  const reached = transfers.find(({ to }) => own.includes(to));
  if (reached !== undefined) {
    const where = `It reached your wallet ${reached.to} on ${network}`;
    return isScanned && isFinal
      ? say('unmatched', `${where} when no payment was waiting there, and pays nothing.`)
      : say('not_read_yet', `${where}, in block ${mined.block_number}, which is not read yet.`);
  }
  const brought = others.find((address) => own.includes(address));
  if (brought !== undefined)
    return say('other_token', `It brought something else than USDT to ${brought} on ${network}.`);
  return say('not_your_wallet', `It is on ${network} and brought no USDT to a wallet of yours.`);
}

const say = (code: ExplanationCode, explanation: string): Explanation => ({ explanation, explanation_code: code });
