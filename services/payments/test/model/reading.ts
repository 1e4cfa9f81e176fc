import { formatUnits } from '@quittance/contracts/amount.ts';
import { sha256 } from '@quittance/contracts/ids.ts';
import type { PaymentStatus, UnmatchedReason } from '@quittance/contracts/payment.ts';
import { paymentJson } from './creating.ts';
import { done, timestamp, type Settings, type Step } from './steps.ts';
import { referenceOf, windowOf } from './rules.ts';
import { isExact, otherAmount } from './settling.ts';
import { type Model, type ModelPayment, type ModelTransfer } from './state.ts';

/* What merchants and customers read of payments. */

/** A merchant's list, all pages of it, newest first. */
export const readingList =
  (merchant: string, status: PaymentStatus | null, settings: Settings): Step =>
  (model) =>
    done(
      [...model.payments.values()]
        .filter((payment) => payment.merchant === merchant && (status === null || payment.status === status))
        .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1))
        .map((payment) => shown(model, payment, settings)),
    );

/** GET …/details, or null where it is 404. */
export const readingDetails =
  (merchant: string, paymentId: string, settings: Settings): Step =>
  (model) => {
    const payment = model.payments.get(paymentId);
    if (payment?.merchant !== merchant) return done(null);
    return done({ ...shown(model, payment, settings), unmatched_transfers: unmatchedOf(model, payment) });
  };

/** What the public token shows, and the checkout page beside it. */
export const readingPublic =
  (paymentId: string): Step =>
  (model) => {
    const payment = model.payments.get(paymentId)!;
    const transfer = transferOf(model, payment);
    return done({
      token_sha256: sha256(payment.token).toString('hex'),
      payment: {
        status: payment.status,
        amount: payment.amount,
        currency: 'USDT',
        network: payment.network,
        merchant_wallet: payment.wallet,
        description: payment.description,
        expires_at: timestamp(payment.expiresAt),
      },
      confirmations: payment.status === 'CHECKING' ? confirmationsOf(transfer!) : null,
      server_time: timestamp(model.now),
      merchant_id: payment.merchant,
      reference: referenceOf(payment.id),
      return_url: null,
    });
  };

const confirmationsOf = ({ confirmations, confirmationsRequired }: ModelTransfer): object => ({
  seen: Math.min(confirmations, confirmationsRequired),
  required: confirmationsRequired,
});

function shown(model: Model, payment: ModelPayment, settings: Settings): object {
  const transfer = transferOf(model, payment);
  return {
    ...paymentJson(payment, settings),
    transaction:
      transfer === undefined
        ? null
        : {
            transaction_id: transfer.id,
            transaction_event_index: transfer.index,
            block_number: transfer.blockNumber,
            amount: formatUnits(transfer.tokenUnits, transfer.decimals),
            // Nobody accepts by hand here.
            accepted: false,
            confirmations: transfer.confirmations,
            confirmations_required: transfer.confirmationsRequired,
            waiting_for: waitingFor(payment, transfer),
          },
  };
}

/** The model's networks ask for confirmations alone. */
const waitingFor = (payment: ModelPayment, { confirmations, confirmationsRequired }: ModelTransfer): string | null =>
  payment.status === 'CHECKING' && confirmations < confirmationsRequired ? 'confirmations' : null;

const transferOf = (model: Model, payment: ModelPayment): ModelTransfer | undefined =>
  [...model.ledger.values()].find(({ pays }) => pays === payment.id);

/** Those meant for it, and those of other amounts that reached its wallet while it waited; newest first. */
function unmatchedOf(model: Model, payment: ModelPayment): object[] {
  const reasonFor = (transfer: ModelTransfer): UnmatchedReason | null => {
    if (transfer.meantFor === payment.id) return transfer.reason;
    const { from, to } = windowOf(payment);
    const here = transfer.network === payment.network && transfer.wallet === payment.wallet;
    const inTime = from <= transfer.blockTime && transfer.blockTime < to;
    const meant = transfer.meantFor === null ? null : model.payments.get(transfer.meantFor)!;
    const own = (meant ?? transfer).merchant === payment.merchant;
    return here && own && inTime && !isExact(payment, transfer) ? otherAmount(payment, transfer) : null;
  };
  return [...model.ledger.values()]
    .filter(({ pays, phase }) => pays === null && phase !== 'retracted')
    .sort((one, other) => other.blockTime - one.blockTime || compare(one.id, other.id) || one.index - other.index)
    .flatMap((transfer) => {
      const reason = reasonFor(transfer);
      if (reason === null) return [];
      return [
        {
          transaction_id: transfer.id,
          transaction_event_index: transfer.index,
          amount: formatUnits(transfer.tokenUnits, transfer.decimals),
          block_timestamp: timestamp(transfer.blockTime),
          reason,
        },
      ];
    });
}

const compare = (one: string, other: string): number => Number(one > other) - Number(one < other);
