import { setTimeout as delay } from 'node:timers/promises';
import { checks } from './checks/all.ts';
import {
  fault,
  unseen,
  withoutEffects,
  type Check,
  type Effects,
  type Judge,
  type Result,
  type Stage,
  type Verdict,
} from './check.ts';
import { delivery, inventPayment, paidEvent, type RehearsedPayment, type SigningKey } from './events.ts';
import { isTaken, send, type Answer } from './send.ts';

export type RehearsalOptions = {
  /** URL of the receiver. */
  url: string;
  /** The receiver's keys: the current one, and the previous one to check rotation. */
  keys: readonly [SigningKey, SigningKey?];
  /** Unpaid payments that the receiver knows, at least PAYMENTS_NEEDED. Default: invented ones. */
  payments?: readonly RehearsedPayment[];
  /** How often each payment was fulfilled, by payment_id or order_id; 0 for missing ones. */
  effects?: () => Promise<Readonly<Record<string, number>>>;
  /** How long an answer may take. Default: 15,000 ms, as in production. */
  timeoutMs?: number;
  /** How long effects may lag behind the answers. Default: 10,000 ms. */
  effectsWaitMs?: number;
  /** Called with the title of the next check. */
  onCheck?: (title: string) => void;
};

export type CheckReport = {
  id: string;
  title: string;
  result: Result;
  /** What was seen, or why nothing was; not set for ok. */
  seen?: string;
  why: string;
  /** Set for faults and advice. */
  todo?: string;
};
export type Report = { url: string; ok: boolean; checks: CheckReport[]; slowest_ms: number };

/** Default keys for a receiver without its own: the current and the previous one. They are not secret. */
export const REHEARSAL_KEYS: readonly [SigningKey, SigningKey] = [
  { id: 'whk_0000000000000000000000000000000a', key: 'whsec_RehearsalOnlyNeverOnAServerPresentKeyAAAAAA' },
  { id: 'whk_0000000000000000000000000000000b', key: 'whsec_RehearsalOnlyNeverOnAServerOlderKeyAAAAAAAA' },
];

export const PAYMENTS_NEEDED = 43;

/** Acts as the sender of webhooks to a receiver, and reports its faults. @throws Error when the effects cannot be read. */
export async function rehearse(options: RehearsalOptions): Promise<Report> {
  const { url, onCheck, effects, effectsWaitMs = 10_000 } = options;
  const { stage, paid, isGone } = stageFor(options);
  // A copy, because a caller may return the object that it counts in.
  const before = { ...(await effects?.()) };
  const judges = new Map<Check, Judge>();
  let notPlayed = '';
  for (const check of checks) {
    onCheck?.(check.title);
    const judge = await check.play(stage);
    const isFirst = judges.size === 0;
    judges.set(check, judge);
    if (isFirst && judge(null).result !== 'ok') notPlayed = 'anything, because a genuine event was not accepted';
    else if (await isGone()) {
      judges.set(check, () => gone);
      notPlayed = 'anything, because the receiver was gone';
    }
    if (notPlayed !== '') break;
  }
  // When this event has had its effect, the effects of the earlier ones are complete.
  if (notPlayed === '') await stage.pay(stage.nextPayment());
  // A stopped receiver may also be the one that reports effects.
  const isCounted = effects !== undefined && notPlayed === '';
  const counted = isCounted ? await count(effects, before, paid, effectsWaitMs) : null;
  const reports = judgeAll(judges, counted, notPlayed);
  return {
    url,
    ok: reports.every(({ result }) => result !== 'fault'),
    checks: reports,
    slowest_ms: stage.slowestMs,
  };
}

const gone: Verdict = {
  ...fault('after this the receiver no longer listened'),
  todo: 'Check the receiver’s log: an uncaught error has ended it. Catch errors, and answer them.',
};

function stageFor({ url, keys, payments, timeoutMs = 15_000 }: RehearsalOptions) {
  const target = new URL(url);
  const paid: RehearsedPayment[] = [];
  let last: Answer | null = null;
  let used = 0;
  const stage: Stage = {
    keys,
    timeoutMs,
    knowsPayments: payments !== undefined,
    nextPayment: () => {
      if (payments === undefined) return inventPayment();
      const payment = payments[used++];
      if (payment === undefined) throw new Error(`at least ${PAYMENTS_NEEDED} payments are needed`);
      return payment;
    },
    deliver: async (event, differences) => {
      const answer = await send(target, delivery(event, keys[0], differences), timeoutMs);
      if (isTaken(answer)) stage.slowestMs = Math.max(stage.slowestMs, answer.ms);
      last = answer;
      return answer;
    },
    pay: async (payment, event = paidEvent(payment), differences = {}) => {
      const answer = await stage.deliver(event, differences);
      if (isTaken(answer)) paid.push(payment);
      return answer;
    },
    refusals: [],
    slowestMs: 0,
  };
  /** A broken or refused connection proves nothing yet, so another one is tried. */
  const isGone = async (): Promise<boolean> => {
    if (last === null || last.status !== null || last.ms >= timeoutMs) return false;
    return (await stage.deliver(paidEvent(inventPayment()))).problem === 'ECONNREFUSED';
  };
  return { stage, paid, isGone };
}

/** Waits until each paid payment has had an effect, or until the time for late effects has passed. */
async function count(
  read: NonNullable<RehearsalOptions['effects']>,
  before: Readonly<Record<string, number>>,
  paid: readonly RehearsedPayment[],
  waitMs: number,
): Promise<Effects> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const now = await read();
    const since = (name: string): number => (now[name] ?? 0) - (before[name] ?? 0);
    const effects: Effects = {
      of: ({ payment_id, order_id }) => since(payment_id in now ? payment_id : (order_id ?? payment_id)),
      ofNobody: ['', 'null', 'undefined', 'None'].map(since).reduce((sum, each) => sum + each),
    };
    if (performance.now() >= deadline || paid.every((payment) => effects.of(payment) > 0)) return effects;
    await delay(100);
  }
}

/** Skips checks whose result a fault explains; effects that do not follow events say nothing about the other checks. */
function judgeAll(judges: ReadonlyMap<Check, Judge>, counted: Effects | null, notPlayed: string): CheckReport[] {
  const faulty = new Map<string, string>();
  return checks.map((check) => {
    const { id, title, why, after = [] } = check;
    const judge = judges.get(check);
    const isEffectFaulty = faulty.has('effect');
    const judged = judge?.(isEffectFaulty ? null : counted) ?? unseen(notPlayed);
    const cause =
      isEffectFaulty && judged.seen === withoutEffects ? 'effect' : after.find((other) => faulty.has(other));
    const verdict = cause === undefined ? judged : unseen(`anything, because of the fault “${faulty.get(cause)}”`);
    if (verdict.result === 'fault') faulty.set(id, title);
    const { result, seen, todo = check.todo } = verdict;
    const isFinding = result === 'fault' || result === 'advice';
    return { id, title, result, ...(seen !== undefined && { seen }), why, ...(isFinding && { todo }) };
  });
}
