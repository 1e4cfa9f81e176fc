import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { notifyOfPayment } from './notifying.ts';
import { sayClosed } from './moving.ts';
import { reviewTransfers, settleAfterEnd } from './settling.ts';
import { done, type Step } from './steps.ts';
import { isOwn, type Model, type ModelPayment } from './state.ts';

type AskedWindow = { recipient: string; amount?: string; from: string; to: string };

/** A question that an expiry round asked chain-watcher, and the answer; null when it gave none. */
export type Question = {
  network: string;
  windows: AskedWindow[];
  answer: { scannedThrough: number | null; transfers: TransferObserved[] } | null;
};

export type ExpiryRound = {
  networks: readonly string[];
  questions: readonly Question[];
  /** Other calls are running: payments they have locked are left for the next round. */
  others: boolean;
};

/**
 * One round of the expiry loop. It first asks how far the network is scanned, with a question without windows; its later questions show
 * which payments it then claimed. Each transfer in an answer is decided, and then the payments expire for which the answer is certain:
 * everything up to their expiry is final and scanned, and nothing in the answer is older than what is known already. The answer is true
 * when chain-watcher could be asked each time.
 */
export const expiring = (round: ExpiryRound): Step => claiming(round, 0);

const claiming =
  (round: ExpiryRound, position: number): Step =>
  (model) => {
    const network = round.networks[position];
    if (network === undefined) return done(round.questions.every(({ answer }) => answer !== null));
    const after = claiming(round, position + 1);
    const asked = round.questions.filter((question) => question.network === network);
    const [first] = asked;
    const overdue = overdueIn(model, network);
    // A payment that expires at this very moment may be left for the next round.
    const late = overdue.filter(({ expiresAt }) => expiresAt < model.now);
    if (first === undefined) {
      return late.length === 0 || round.others ? { next: after } : done(`nobody asked about ${namesOf(late)}`);
    }
    if (first.answer === null) {
      model.reached.push('expiry: chain-watcher gave no answer');
      return asked.length === 1 ? { next: after } : done('asked on after getting no answer');
    }
    const { scannedThrough } = first.answer;
    const questions = asked.filter(({ windows }) => windows.length > 0);
    const claimed = overdue.filter((payment) => questions[0] !== undefined && isAsked(questions[0], payment));
    const due = late.filter(({ expiresAt }) => scannedThrough !== null && expiresAt <= scannedThrough);
    if (due.length < late.length) model.reached.push('expiry: not certain yet');
    if (claimed.length !== (questions[0]?.windows.length ?? 0)) return done('asked about what was not overdue');
    const left = due.filter((payment) => !claimed.includes(payment));
    if (left.length > 0 && !round.others) return done(`nobody asked about ${namesOf(left)}`);
    for (const { id } of claimed) model.claimed.add(id);
    const waiting = new Set(claimed.filter(({ status }) => status === 'PENDING').map(({ id }) => id));
    if (questions.length > 1) model.reached.push('expiry: a group was halved');
    return { next: asking(questions, claimed, waiting, after) };
  };

const overdueIn = (model: Model, of: string): ModelPayment[] =>
  [...model.payments.values()].filter(
    ({ id, network, status, expiresAt }) =>
      network === of &&
      (status === 'PENDING' || status === 'CHECKING') &&
      expiresAt <= model.now &&
      !model.claimed.has(id),
  );

/** One question after the other; a question without an answer ends the turn of its network. */
const asking =
  (questions: readonly Question[], claimed: readonly ModelPayment[], waiting: ReadonlySet<string>, after: Step): Step =>
  (model) => {
    const [question, ...rest] = questions;
    if (question === undefined) return { next: after };
    if (question.answer === null) {
      model.reached.push('expiry: chain-watcher gave no answer');
      return rest.length === 0 ? { next: after } : done('asked on after getting no answer');
    }
    const group = claimed.filter((payment) => isAsked(question, payment));
    const through = question.answer.scannedThrough ?? -Infinity;
    const contradicted = review(model, question.answer.transfers);
    return { next: closing(group, waiting, { through, contradicted }, asking(rest, claimed, waiting, after)) };
  };

/** An answer is settled in one transaction. @returns the wallets for which something newer is known. */
function review(model: Model, transfers: readonly TransferObserved[]): ReadonlySet<string> {
  const reachedBefore = model.reached.length;
  const contradicted = reviewTransfers(model, transfers);
  if (model.reached.slice(reachedBefore).some((reached) => reached.endsWith('→ PAID'))) {
    model.reached.push('expiry: a payment was paid by asking');
  }
  return new Set(contradicted.map(({ to }) => to));
}

/** A payment that was CHECKING when it was claimed, and loses its transfer by the answer, expires in the next round. */
const closing =
  (
    group: readonly ModelPayment[],
    waiting: ReadonlySet<string>,
    { through, contradicted }: { through: number; contradicted: ReadonlySet<string> },
    then: Step,
  ): Step =>
  (model) => {
    for (const { id } of group) {
      const payment = model.payments.get(id)!;
      if (payment.status === 'CHECKING') model.reached.push('expiry: still CHECKING after asking');
      if (payment.status !== 'PENDING' || !waiting.has(id)) continue;
      if (through < payment.expiresAt) model.reached.push('expiry: held back by a wallet');
      else if (contradicted.has(payment.wallet)) model.reached.push('expiry: contradicted');
      else expire(model, payment, through);
    }
    return then(model);
  };

function expire(model: Model, payment: ModelPayment, through: number): void {
  payment.status = 'EXPIRED';
  model.reached.push('payment: PENDING → EXPIRED');
  if (through === payment.expiresAt) model.reached.push('expiry: scanned exactly as far as needed');
  sayClosed(model, payment, 'EXPIRED');
  settleAfterEnd(model, payment);
  notifyOfPayment(model, 'payment.expired', payment, null);
}

/**
 * The payment's window itself: chain-watcher has to know what may have been made in it, by any clock. At an address of its own, every
 * amount counts.
 */
const isAsked = ({ windows }: Question, payment: ModelPayment): boolean =>
  windows.some(
    ({ recipient, amount, from, to }) =>
      recipient === payment.wallet &&
      amount === (isOwn(payment) ? undefined : payment.amount) &&
      Date.parse(from) === payment.createdAt &&
      Date.parse(to) === payment.expiresAt,
  );

const namesOf = (payments: readonly ModelPayment[]): string => payments.map(({ id }) => id).join(', ');
