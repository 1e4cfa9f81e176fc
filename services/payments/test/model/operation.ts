import type { Call } from './plan.ts';
import type { Replica } from './replica.ts';
import type { Step } from './steps.ts';

/** A call with all its parts named. */
export type Operation = {
  name: string;
  kind: Call['do'];
  /** The slot of a creation. */
  slot: string | null;
  /** Makes the call. @returns the answer, and what the model expects of such a call. */
  perform(replica: Replica, others: boolean): Promise<Performed>;
};

export type Performed = {
  answer: unknown;
  program: Step;
  /** The answer means that nothing was decided, and that the same call may be made again. */
  gaveUp: boolean;
};

export const operation = (kind: Call['do'], name: string) => ({ kind, name, slot: null });

/** A message was received. */
export const received = (answer: string, program: Step): Performed => ({ answer, program, gaveUp: answer !== 'taken' });
