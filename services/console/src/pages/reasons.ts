import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { UnmatchedOnWallet } from '@quittance/contracts/http/payments/wallets.ts';
import type { UnmatchedTransfer } from '@quittance/contracts/api/payment.ts';
import { factsPart } from './parts.ts';
import { words } from './story.ts';

type Reason = UnmatchedOnWallet['reason'] | UnmatchedTransfer['reason'];

/** For a shop owner: what happened, and what to do. A reason without a row here does not compile. */
const meanings: Record<Reason, string> = {
  underpaid: 'Less arrived than the payment asks for. Accept it if that is enough, or return it.',
  overpaid: 'More arrived than the payment asks for. Accept it, and return the difference.',
  late: 'It arrived after the payment had expired. Accept it if you still deliver the order, or return it.',
  after_cancel:
    'It arrived after the payment was cancelled. Accept it if you deliver the order after all, or return it.',
  duplicate: 'Another transfer had already paid the payment. Ask the customer whether the money was sent twice.',
  ambiguous:
    'It is the exact amount of several payments, and any of their customers may have sent it. Ask them for the transaction ID before you accept it for one of them.',
  paid_another:
    'It arrived soon after this payment ended, and paid a later payment of the same amount. If this customer says that they sent it, compare the transaction ID with theirs.',
  unconfirmed: 'It is not confirmed yet. It pays its payment when it is.',
  no_payment: 'No payment was waiting at this address.',
};

/** What those of the reasons mean that a list has; nothing under an empty list. */
export function reasonsPart(transfers: readonly { reason: Reason }[]): Html | [] {
  const shown = [...new Set(transfers.map(({ reason }) => reason))].sort();
  if (shown.length === 0) return [];
  return factsPart(
    'What the reasons mean',
    Object.fromEntries(shown.map((reason) => [words(reason), html`${meanings[reason]}`])),
  );
}
