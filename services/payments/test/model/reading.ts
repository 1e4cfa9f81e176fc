import { formatUnits, toTokenUnits } from '@quittance/contracts/amount.ts';
import { sha256 } from '@quittance/contracts/ids.ts';
import type { PaymentStatus } from '@quittance/contracts/api/payment.ts';
import { paymentJson } from './creating.ts';
import { isExact, reasonFor } from './deciding.ts';
import { done, timestamp, type Settings, type Step } from './steps.ts';
import { referenceOf } from './rules.ts';
import { isOwn, type Model, type ModelPayment, type ModelTransfer, slotOf, transfersOf } from './state.ts';
import { paidAnother } from './whose-money.ts';

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

/** GET …/details, or null when it is 404. */
export const readingDetails =
  (merchant: string, paymentId: string, settings: Settings): Step =>
  (model) => {
    const payment = model.payments.get(paymentId);
    if (payment?.merchant !== merchant) return done(null);
    return done({
      ...shown(model, payment, settings),
      unmatched_transfers: unmatchedOf(model, payment),
      transfers: isOwn(payment) ? transfersOf(model, payment).map((transfer) => partShown(payment, transfer)) : [],
      warnings: [],
    });
  };

/** What the public token shows, and the checkout page's part. */
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
      paid_at: payment.paidAt === null ? null : timestamp(payment.paidAt),
      price: payment.priced?.price ?? null,
      rate: payment.priced?.rate.value ?? null,
      received: isOwn(payment) ? arrivedAt(model, payment) : null,
    });
  };

/** Everything at the address that is not ambiguous, confirmed or not, and what is missing to the amount. */
function arrivedAt(model: Model, payment: ModelPayment): object {
  const transfers = transfersOf(model, payment).filter(({ reason }) => reason !== 'ambiguous');
  const decimals = transfers[0]?.decimals ?? 6;
  const arrived = transfers.reduce((sum, { tokenUnits }) => sum + tokenUnits, 0n);
  const asked = toTokenUnits(payment.units, decimals);
  const missing = asked > arrived ? asked - arrived : 0n;
  return { amount: formatUnits(arrived, decimals), missing: formatUnits(missing, decimals) };
}

/** What is confirmed at an address of its own. */
export function receivedBy(model: Model, payment: ModelPayment): string {
  const confirmed = transfersOf(model, payment).filter(({ phase }) => phase === 'confirmed');
  const sum = confirmed.reduce((units, { tokenUnits }) => units + tokenUnits, 0n);
  return formatUnits(sum, confirmed[0]?.decimals ?? 6);
}

const partShown = (payment: ModelPayment, transfer: ModelTransfer): object => ({
  transaction_id: transfer.id,
  transaction_event_index: transfer.index,
  amount: formatUnits(transfer.tokenUnits, transfer.decimals),
  block_timestamp: timestamp(transfer.blockTime),
  confirmed: transfer.phase === 'confirmed',
  counts:
    transfer.pays !== null || transfer.counted !== null || (payment.status !== 'PAID' && transfer.part === payment.id),
});

const confirmationsOf = ({ confirmations, confirmationsRequired }: ModelTransfer): object => ({
  seen: Math.min(confirmations, confirmationsRequired),
  required: confirmationsRequired,
});

export function shown(model: Model, payment: ModelPayment, settings: Settings): object {
  const transfer = transferOf(model, payment);
  return {
    ...paymentJson(payment, settings, receivedBy(model, payment)),
    transaction:
      transfer === undefined
        ? null
        : {
            transaction_id: transfer.id,
            transaction_event_index: transfer.index,
            block_number: transfer.blockNumber,
            block_timestamp: timestamp(transfer.blockTime),
            amount: formatUnits(transfer.tokenUnits, transfer.decimals),
            accepted: transfer.accepted !== null,
            confirmations: transfer.confirmations,
            confirmations_required: transfer.confirmationsRequired,
            waiting_for: waitingFor(payment, transfer),
          },
  };
}

/** The model's networks require only confirmations. */
const waitingFor = (payment: ModelPayment, { confirmations, confirmationsRequired }: ModelTransfer): string | null =>
  payment.status === 'CHECKING' && confirmations < confirmationsRequired ? 'confirmations' : null;

const transferOf = (model: Model, payment: ModelPayment): ModelTransfer | undefined =>
  [...model.ledger.values()].find(({ pays }) => pays === payment.id);

/**
 * Transfers that may be for it, and those that paid a later payment of its slot so soon that they may have been meant for this one; newest
 * first.
 */
function unmatchedOf(model: Model, payment: ModelPayment): object[] {
  return [...model.ledger.values()]
    .filter(({ phase }) => phase !== 'retracted')
    .sort((one, other) => other.blockTime - one.blockTime || compare(one.id, other.id) || one.index - other.index)
    .flatMap((transfer) => {
      const reason = reasonShown(model, payment, transfer);
      if (reason === null) return [];
      return [
        {
          transaction_id: transfer.id,
          transaction_event_index: transfer.index,
          amount: formatUnits(transfer.tokenUnits, transfer.decimals),
          block_timestamp: timestamp(transfer.blockTime),
          reason,
          // The payment it has paid, and this one.
          candidate_count: transfer.pays === null ? transfer.among.length : 2,
        },
      ];
    });
}

function reasonShown(model: Model, payment: ModelPayment, transfer: ModelTransfer) {
  if (transfer.pays !== null) {
    const paid = model.payments.get(transfer.pays)!;
    if (!isExact(payment, transfer) || !isExact(paid, transfer)) return null;
    const others = paidAnother(slotOf(model, payment), paid, transfer);
    if (!others.includes(payment)) return null;
    model.reached.push('details: paid_another');
    return 'paid_another';
  }
  if (transfer.reason === null || !transfer.among.includes(payment.id)) return null;
  return reasonFor(payment, transfer);
}

const compare = (one: string, other: string): number => Number(one > other) - Number(one < other);
