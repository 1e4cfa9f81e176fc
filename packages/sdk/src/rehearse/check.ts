import type { Differences, Event, RehearsedPayment, SigningKey } from './events.ts';
import { isTaken, told, type Answer } from './send.ts';

/** What a check can use. */
export type Stage = {
  /** The current key, and the previous one if it is known. */
  keys: readonly [SigningKey, SigningKey?];
  timeoutMs: number;
  /** Whether the receiver knows the payments and their amounts. */
  knowsPayments: boolean;
  /** A payment about which nothing was sent yet. */
  nextPayment(): RehearsedPayment;
  deliver(event: Event, differences?: Differences): Promise<Answer>;
  /** Delivers a genuine PAID event. If it is accepted, an effect is expected. */
  pay(payment: RehearsedPayment, event?: Event, differences?: Differences): Promise<Answer>;
  /** Requests that had to be refused, with their answers. */
  refusals: { what: string; answer: Answer }[];
  /** The longest time of an accepted answer to a genuine event. */
  slowestMs: number;
};

/** How often payments have been fulfilled since the rehearsal began. */
export type Effects = {
  of(payment: RehearsedPayment): number;
  /** Effects counted for no payment, such as `null`. */
  ofNobody: number;
};

export type Result = 'ok' | 'fault' | 'advice' | 'unseen';
export type Verdict = { result: Result; seen?: string; todo?: string };

/** Called when everything has been sent; effects are null if they cannot be counted. */
export type Judge = (effects: Effects | null) => Verdict;

export type Check = {
  id: string;
  /** The rule, with must or should. */
  title: string;
  why: string;
  todo: string;
  /** Checks whose faults explain the result of this one. */
  after?: readonly string[];
  /** Sends the events of this check. */
  play(stage: Stage): Promise<Judge>;
};

export const ok: Verdict = { result: 'ok' };
export const fault = (seen: string): Verdict => ({ result: 'fault', seen });
export const advice = (seen: string): Verdict => ({ result: 'advice', seen });
export const unseen = (seen: string): Verdict => ({ result: 'unseen', seen });

export const withoutEffects = 'what happened behind the answers; --effects shows it';

/** A request of a check, named by its difference from a genuine one. */
type Probe = { what: string; event: Event; differences?: Differences };

type Refusing = Omit<Check, 'play'> & { probes: (stage: Stage, payment: RehearsedPayment) => readonly Probe[] };

/** A check of requests that must be refused, one after the other: no success, and no effect. */
export function refusing({ probes, ...check }: Refusing): Check {
  return {
    ...check,
    play: async (stage) => {
      const payment = stage.nextPayment();
      const answered: { what: string; answer: Answer }[] = [];
      for (const { what, event, differences } of probes(stage, payment)) {
        const answer = await stage.deliver(event, differences);
        answered.push({ what, answer });
        // It won't answer the others either, and each would take the whole time.
        if (answer.status === null && answer.ms >= stage.timeoutMs) break;
      }
      stage.refusals.push(...answered);
      const taken = answered.filter(({ answer }) => isTaken(answer));
      return (effects) => {
        const effect = effects === null ? '' : `; effects: ${effects.of(payment)}`;
        if (taken.length > 0) return fault(list(taken) + effect);
        return effects === null || effects.of(payment) === 0
          ? ok
          : fault(`refused, but only after its effect${effect}`);
      };
    },
  };
}

type Taking = Omit<Check, 'play'> & {
  atOnce?: boolean;
  events: (payment: () => RehearsedPayment) => readonly (Probe & { payment: RehearsedPayment })[];
};

/** A check of genuine PAID events, one after the other or at once: success, and one effect each. */
export function taking({ events, atOnce = false, ...check }: Taking): Check {
  return {
    ...check,
    play: async (stage) => {
      const pay = async ({ what, payment, event, differences }: ReturnType<Taking['events']>[number]) => ({
        ...{ what, payment },
        answer: await stage.pay(payment, event, differences),
      });
      const all = events(stage.nextPayment);
      const answered: Awaited<ReturnType<typeof pay>>[] = [];
      if (atOnce) answered.push(...(await Promise.all(all.map(pay))));
      else for (const one of all) answered.push(await pay(one));
      return (effects) => {
        const refused = answered.filter(({ answer }) => !isTaken(answer));
        if (refused.length > 0) return fault(list(refused));
        const odd = answered.filter(({ payment }) => effects !== null && effects.of(payment) !== 1);
        return odd.length === 0
          ? ok
          : fault(odd.map(({ what, payment }) => `${what}: effects: ${effects?.of(payment)}`).join('; '));
      };
    },
  };
}

/** Groups requests with the same answer. */
export function list(answered: readonly { what: string; answer: Answer }[]): string {
  const answers = [...new Set(answered.map(({ answer }) => told(answer)))];
  const askedFor = (text: string): string =>
    answered.flatMap(({ what, answer }) => (told(answer) === text ? what : [])).join(', ');
  return answers.map((text) => `${askedFor(text)}: ${text}`).join('; ');
}
