import { journeyStack, type JourneyStack } from '../../support/journey-stack.ts';
import type { FaultContext } from '../fault.ts';

/** What a file `<name>.row.ts` exports as `row`: one merchant, wallet, receiver or queue makes noise, and what the others feel of it. */
export type Row = {
  name: string;
  /** The noise, and what must hold beside it, for people. */
  about: string;
  /** What the others felt of it at 6a54703, before anything held the noise back. */
  before: string;
  run(context: RowContext): Promise<RowResult>;
};

/** `stack`: a whole stack that is lent to the row; without it, a row that needs one starts its own. */
export type RowContext = FaultContext & { stack?: JourneyStack };

export async function stackFor({ stack: lent, onEnd }: RowContext): Promise<JourneyStack> {
  if (lent !== undefined) return lent;
  const own = await journeyStack();
  onEnd(() => own.close());
  return own;
}

type RowResult = {
  /** The same figures of this run, with the noise and without. */
  measured: string[];
  /** What did not hold, each in a sentence. */
  broken: string[];
};
