import type { Finding } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import { acceptanceRefusal } from './candidates.ts';
import { onWallet, tenantsIn } from './deciding.ts';
import { findingOf } from './other-services.ts';
import { shown } from './reading.ts';
import { notifyOfTransfers } from './notifying.ts';
import { everythingElse } from './settling-parts.ts';
import { pay, recordTransfer } from './settling.ts';
import { done, type OtherServices, type Settings, type Step, unavailable } from './steps.ts';
import { isOwn, type Model, type ModelPayment, type ModelTransfer, transferKey } from './state.ts';

/* A caller decides that a transfer is this payment's money. */

export type AcceptanceCall = {
  payment: string;
  /** Null for an operator. */
  merchant: string | null;
  /** On the network of the payment. */
  transfer: { network: string; id: string; index: number };
  /** How many candidates the caller was shown. */
  confirmed: number | null;
};

type Present = Finding & { finding: 'present' };
type Accepting = { call: AcceptanceCall; settings: Settings; otherServices: OtherServices };

/** A merchant may accept at least this much of the requested amount. */
const LEAST_PERCENT = 90n;

/** The chain is asked between two reads of the ledger; its answer does not change. */
export const accepting =
  (accepted: Accepting): Step =>
  (model) => {
    const { call, otherServices } = accepted;
    const payment = model.payments.get(call.payment)!;
    if (call.merchant !== null && payment.merchant !== call.merchant) return done({ status: 404 });
    const known = model.ledger.get(transferKey(call.transfer));
    const refusal = known === undefined ? null : whyNot(model, call, known);
    if (refusal === 'done before') return done(answerFor(model, payment, accepted));
    if (refusal !== null) return refused(model, refusal);
    if (otherServices.down.has('chain')) return done(unavailable);
    const finding = findingOf(otherServices, transferKey(call.transfer));
    if (finding.finding !== 'present') return refused(model, 'absent from the chain');
    if (!finding.is_final) return refused(model, 'not final');
    if (known !== undefined) return { next: deciding(accepted, finding) };
    return finding.to === payment.wallet ? { next: recording(accepted, finding) } : refused(model, 'another wallet');
  };

const recording =
  (accepted: Accepting, finding: Present): Step =>
  (model) => {
    const { payment: id, transfer } = accepted.call;
    const { finding: _, is_final: __, ...shown } = finding;
    recordTransfer(model, {
      ...{ network: transfer.network, transaction_id: transfer.id, transaction_event_index: transfer.index },
      ...{ ...shown, merchant_id: model.payments.get(id)!.merchant, phase: 'confirmed', version: 0 },
    });
    model.reached.push('acceptance: money that only the chain knew');
    return { next: deciding(accepted, finding) };
  };

const deciding =
  (accepted: Accepting, finding: Present): Step =>
  (model) => {
    const { call } = accepted;
    const payment = model.payments.get(call.payment)!;
    const transfer = model.ledger.get(transferKey(call.transfer))!;
    const refusal = whyNot(model, call, transfer) ?? differs(transfer, finding);
    if (refusal === 'done before') return done(answerFor(model, payment, accepted));
    if (refusal !== null) return refused(model, refusal);
    model.reached.push(`accepted: ${whatWas(transfer)}, by ${call.merchant === null ? 'an operator' : 'its merchant'}`);
    transfer.confirmations = finding.confirmations;
    if (isOwn(payment)) noteOwn(model, payment, transfer);
    pay(model, payment, transfer, true);
    notifyOfTransfers(model);
    return done(answerFor(model, payment, accepted));
  };

function noteOwn(model: Model, payment: ModelPayment, transfer: ModelTransfer): void {
  const isLate = (one: ModelTransfer): boolean => one.reason === 'late' || one.reason === 'after_cancel';
  const others = everythingElse(model, payment, transfer);
  if (isLate(transfer)) model.reached.push('own address: a late part was accepted');
  if (others.length > 0) model.reached.push('own address: everything was accepted together');
  if (others.some(isLate)) model.reached.push('own address: late parts were accepted with another');
}

function refused(model: Model, why: string) {
  model.reached.push(`acceptance: refused, ${why}`);
  return done({ status: 409 });
}

function whyNot(model: Model, { payment: id, merchant, confirmed }: AcceptanceCall, transfer: ModelTransfer) {
  const payment = model.payments.get(id)!;
  if (payment.status === 'PAID') {
    return transfer.pays === id && transfer.accepted !== null ? 'done before' : 'paid already';
  }
  if (payment.status === 'CHECKING') return 'CHECKING by another transfer';
  if (transfer.wallet !== payment.wallet) return 'another wallet';
  if (transfer.phase === 'retracted') return 'retracted';
  if (transfer.sender === transfer.wallet) return 'what the wallet sent to itself';
  // A merchant waits for the message; an operator goes by what the chain shows.
  if (merchant !== null && transfer.phase === 'seen') return 'not final';
  const wallet = onWallet(model, transfer);
  const self = wallet.find((one) => one.id === id)!;
  if (merchant !== null && carriedFor(model, payment, transfer) * 100n < self.asked * LEAST_PERCENT)
    return 'too little';
  const among = transfer.among.map((one) => model.payments.get(one)!);
  // The merchants that are notified of it, and no others.
  const concerned = among.length === 0 ? [transfer.merchant] : among.map((one) => one.merchant);
  if (transfer.pays === null && !concerned.includes(payment.merchant)) return 'of another merchant';
  const pays = transfer.pays ?? (transfer.counted === null ? null : transfer.part);
  const isTenant = tenantsIn(model, transfer).some((one) => one.id === id);
  const money = { ...transfer, pays, carried: transfer.tokenUnits };
  // At an address that the payment had for itself, an amount is nobody's.
  const others = isTenant ? wallet.filter((one) => one.asked === self.asked) : wallet;
  const refusal = acceptanceRefusal(self, money, others, among, { by: merchant, confirmed });
  if (refusal !== null) return refusal;
  return isPartOfAnother(transfer, id) ? 'another payment is the candidate' : null;
}

/** It came in the time of a payment that has the address for itself, and counts when it is confirmed or enough has come. */
const isPartOfAnother = ({ part, reason }: ModelTransfer, id: string): boolean =>
  part !== null && part !== id && reason === null;

/** What a payment gets: at an address of its own, everything that is confirmed. */
const carriedFor = (model: Model, payment: ModelPayment, transfer: ModelTransfer): bigint =>
  [...(isOwn(payment) ? everythingElse(model, payment, transfer) : []), transfer].reduce(
    (sum, { tokenUnits }) => sum + tokenUnits,
    0n,
  );

const differs = (transfer: ModelTransfer, finding: Present): string | null =>
  transfer.blockNumber !== finding.block_number || String(transfer.tokenUnits) !== finding.amount_units
    ? 'the chain says something else'
    : null;

const whatWas = ({ reason, among }: ModelTransfer): string =>
  reason === null ? 'money without a reason' : among.length > 1 ? `${reason} among several` : reason;

const answerFor = (model: Model, payment: ModelPayment, { call, settings }: Accepting): unknown =>
  call.merchant === null ? { status: 200 } : { status: 200, body: shown(model, payment, settings) };
