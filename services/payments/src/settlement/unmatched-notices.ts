import { formatUnits } from '@quittance/contracts/amount.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { UnmatchedNotice } from '../notice-messages.ts';
import type { PaymentMessages } from '../payment-messages.ts';
import { findPayment, type PaymentRow } from '../store/payment.ts';
import type { TransferId, TransferRow } from '../store/transfer.ts';
import { findToldMerchants, takeNotices } from '../store/unmatched-notice.ts';
import { type Decision, tokenUnitsOf } from './decision.ts';
import { isCloseAmount, waitedAt } from './payment-window.ts';
import { createWalletSearch } from './slots.ts';

type Context = {
  tx: Transaction;
  messages: PaymentMessages;
  traceparentOf?: (transfer: TransferId) => string | undefined;
};

/** A transfer, and what was decided about it. */
export type Decided = { transfer: TransferRow; decision: Decision };

/** A transfer that carries less than this part of every amount that its wallet was asked for is dust. */
const DUST_PART = 100n;

/**
 * Has merchants who chose it told of transfers that are confirmed and pay nothing. Dust is told to nobody, and of each wallet only so
 * much an hour: anybody can send transfers to it. Nothing but one look-up happens where no merchant chose it.
 * @param decided transfers as they were observed for the first time in this version.
 */
export async function raiseUnmatched(context: Context, decided: readonly Decided[]): Promise<void> {
  const unmatched = decided.filter(isUnmatched);
  if (unmatched.length === 0) return;
  const { tx, messages, traceparentOf } = context;
  const told = await findToldMerchants(
    tx,
    unmatched.map(({ transfer }) => transfer),
  );
  const chosen = unmatched.flatMap((one, index) => {
    const merchantId = told[index] ?? null;
    return merchantId === null ? [] : [{ ...one, merchantId }];
  });
  const searchWallet = createWalletSearch(
    tx,
    chosen.map(({ transfer }) => transfer),
  );
  const notices: Noticed[] = [];
  for (const { transfer, decision, merchantId } of chosen) {
    const onWallet = await searchWallet(transfer);
    if (isDust(transfer, onWallet)) continue;
    const fits = await findFitting(context, { transfer, decision }, onWallet);
    const payment = fits?.merchant_id === merchantId ? fits : null;
    notices.push({ merchantId, payment, transfer, money: moneyOf(transfer, decision) });
  }
  const allowed: Noticed[] = [];
  for (const group of Map.groupBy(notices, ({ transfer }) => `${transfer.network} ${transfer.recipient}`).values()) {
    const [first] = group;
    if (first !== undefined) allowed.push(...group.slice(0, await takeNotices(tx, first.transfer, group.length)));
  }
  await messages.sendUnmatched(tx, allowed, ({ transfer }) => traceparentOf?.(transfer));
}

type Noticed = UnmatchedNotice & { transfer: TransferRow };

const isUnmatched = ({ transfer, decision: { assignment } }: Decided): boolean =>
  transfer.phase === 'confirmed' && assignment.payment_id === null;

function isDust(transfer: TransferRow, onWallet: readonly PaymentRow[]): boolean {
  const units = BigInt(transfer.amount_units);
  return onWallet.length > 0 && onWallet.every((payment) => units * DUST_PART < tokenUnitsOf(payment, transfer));
}

/**
 * The one payment that the transfer seems to be meant for: the one whose amount it carries, or the only one that waited when it came
 * and asked for between half and twice as much.
 */
async function findFitting(
  { tx }: Context,
  { transfer, decision: { assignment } }: Decided,
  onWallet: readonly PaymentRow[],
): Promise<PaymentRow | null> {
  if (assignment.payment_id !== null) return null;
  const { related_payment_id: relatedId, reason } = assignment;
  if (relatedId !== null && reason !== 'underpaid' && reason !== 'overpaid') {
    return onWallet.find((payment) => payment.payment_id === relatedId) ?? (await findPayment(tx, relatedId));
  }
  const units = BigInt(transfer.amount_units);
  const [only = null, ...others] = onWallet.filter((payment) => {
    return waitedAt(payment, transfer.block_timestamp) && isCloseAmount(units, tokenUnitsOf(payment, transfer));
  });
  return others.length === 0 ? only : null;
}

function moneyOf(transfer: TransferRow, { assignment }: Decision): UnmatchedNotice['money'] {
  return {
    amount: formatUnits(BigInt(transfer.amount_units), transfer.decimals),
    reason: assignment.payment_id === null ? assignment.reason : null,
    network: transfer.network,
    merchant_wallet: transfer.recipient,
    block_timestamp: rfc3339(transfer.block_timestamp),
  };
}
