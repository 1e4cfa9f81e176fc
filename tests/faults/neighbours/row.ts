import { journeyStack, type JourneyStack } from '../../support/journey-stack.ts';
import type { FaultContext } from '../fault.ts';

/** The export `row` of a file `<name>.row.ts`: one merchant, wallet, receiver or queue is noisy, and the effect on the others. */
export type Row = {
  name: string;
  /** The noise, and what must hold meanwhile, in plain words. */
  about: string;
  /** The effect on the others at 6a54703, before any limit on the noise. */
  before: string;
  run(context: RowContext): Promise<RowResult>;
};

/** `stack`: a complete stack that the row may use. Without it, a row that needs one starts its own. */
export type RowContext = FaultContext & { stack?: JourneyStack };

export async function stackFor({ stack: lent, onEnd }: RowContext): Promise<JourneyStack> {
  if (lent !== undefined) return lent;
  const own = await journeyStack();
  onEnd(() => own.close());
  return own;
}

type RowResult = {
  /** The same figures in this run, with the noise and without. */
  measured: string[];
  /** What did not hold, one sentence each. */
  broken: string[];
};
