import { formatUnits } from '@quittance/contracts/amount.ts';
import type { UnmatchedOnWallet } from '@quittance/contracts/http/payments/wallets.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import type { UnmatchedOnWalletRow } from '../payment/view.sql.ts';
import { shownCandidates } from '../settlement/candidates.sql.ts';

/**
 * An unmatched transfer, as a merchant reads it.
 * @param merchantId null for operators.
 */
export function toUnmatched(
  { amount_units, decimals, reason, candidates, ...row }: UnmatchedOnWalletRow,
  merchantId: string | null,
): UnmatchedOnWallet {
  const { only, ...shown } = shownCandidates(candidates, merchantId);
  return {
    ...withTextTimes(row),
    ...shown,
    merchant_id: merchantId ?? row.merchant_id,
    amount: formatUnits(BigInt(amount_units), decimals),
    related_payment_id: only,
    reason: reason ?? (candidates.length === 0 ? 'no_payment' : 'unconfirmed'),
  };
}
