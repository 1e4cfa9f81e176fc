import { formatUnits } from '@quittance/contracts/amount.ts';
import type { UnmatchedOnWallet } from '@quittance/contracts/http/payments/wallets.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import type { UnmatchedOnWalletRow } from '../queries/payment-views.ts';

/** A transfer that pays nothing, as operators read it. */
export const toUnmatched = ({ amount_units, decimals, reason, ...row }: UnmatchedOnWalletRow): UnmatchedOnWallet => ({
  ...withTextTimes(row),
  amount: formatUnits(BigInt(amount_units), decimals),
  reason: reason ?? (row.related_payment_id === null ? 'no_payment' : 'unconfirmed'),
});
