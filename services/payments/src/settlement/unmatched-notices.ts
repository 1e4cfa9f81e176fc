import { formatUnits } from '@quittance/contracts/amount.ts';
import type { UnmatchedMoney } from '@quittance/contracts/webhook.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { UnmatchedNotice } from '../payment/outgoing-messages.ts';
import type { PaymentMessages } from '../payment/outgoing-messages.ts';
import { findPayment, type PaymentRow } from '../payment/payment.sql.ts';
import { type Assignment, type TransferId, type TransferRow } from './transfer.sql.ts';
import { findNotified, takeNotices } from './unmatched-notice.sql.ts';
import { type Decision, tokenUnitsOf } from './decision.ts';
import { isDust, waitedOrRested } from './payment-window.ts';
import { createWalletSearch } from './slots.ts';

type Context = {
  tx: Transaction;
  messages: PaymentMessages;
  traceparentOf?: (transfer: TransferId) => string | undefined;
};

/** A transfer before the decision, and the decision. */
export type Decided = { transfer: TransferRow; decision: Decision };

/** Whether it is certain, for now, that a transfer pays nothing, and why. */
export const isExplained = ({ transfer, decision: { assignment, isOpen } }: Decided): boolean =>
  transfer.phase === 'confirmed' && assignment.payment_id === null && isOpen === undefined;

/**
 * Notifies merchants who subscribe to it of confirmed, unmatched transfers, once for each transfer. Dust causes no notice, and each wallet
 * has an hourly limit: anyone can send transfers to it. Costs one look-up when no merchant subscribes.
 */
export async function raiseUnmatched(context: Context, decided: readonly Decided[]): Promise<void> {
  const unmatched = decided.filter((one) => isExplained(one) && !one.transfer.notified);
  if (unmatched.length === 0) return;
  const { tx, messages, traceparentOf } = context;
  const transfers = unmatched.map(({ transfer }) => transfer);
  const subscribed = await findNotified(tx, transfers);
  const searchWallet = createWalletSearch(tx, transfers);
  const notices: Noticed[] = [];
  for (const { place, merchant_id: merchantId, candidates, elsewhere } of subscribed) {
    const one = unmatched[place];
    if (one === undefined) throw new Error('a notice is about a transfer that was not requested');
    const { transfer, decision } = one;
    const isMeant = candidates.length > 0 || elsewhere;
    if (!isMeant && isDustOnWallet(transfer, await searchWallet(transfer))) continue;
    const [only] = candidates;
    const isOnly = candidates.length === 1 && !elsewhere;
    const payment = isOnly && only !== undefined ? await findPayment(tx, only) : null;
    notices.push({
      merchantId,
      payment,
      candidates,
      elsewhere,
      transfer,
      money: moneyOf(transfer, reasonOf(decision)),
    });
  }
  const allowed: Noticed[] = [];
  for (const group of Map.groupBy(notices, ({ transfer }) => `${transfer.network} ${transfer.recipient}`).values()) {
    const [first] = group;
    if (first !== undefined) allowed.push(...group.slice(0, await takeNotices(tx, first.transfer, group.length)));
  }
  await messages.sendUnmatched(tx, allowed, ({ transfer }) => traceparentOf?.(transfer));
}

type Noticed = UnmatchedNotice & { transfer: TransferRow };

/** Less than dust for every payment that was waiting then; or if none was, for the wallet's newest payments. */
function isDustOnWallet(transfer: TransferRow, onWallet: readonly PaymentRow[]): boolean {
  const waited = onWallet.filter((payment) => waitedOrRested(payment, transfer));
  const asked = waited.length > 0 ? waited : onWallet;
  const isLess = (payment: PaymentRow) => isDust(BigInt(transfer.amount_units), tokenUnitsOf(payment, transfer));
  return asked.length > 0 && asked.every(isLess);
}

const reasonOf = ({ assignment }: { assignment: Assignment }): UnmatchedMoney['reason'] =>
  assignment.payment_id === null ? assignment.reason : null;

/** The money of a transfer, as webhooks show it. */
export const moneyOf = (transfer: TransferRow, reason: UnmatchedMoney['reason']): UnmatchedMoney => ({
  amount: formatUnits(BigInt(transfer.amount_units), transfer.decimals),
  reason,
  network: transfer.network,
  merchant_wallet: transfer.recipient,
  block_timestamp: rfc3339(transfer.block_timestamp),
});
