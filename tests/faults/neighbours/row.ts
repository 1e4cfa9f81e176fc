import type { FaultContext } from '../fault.ts';

/** What a file `<name>.row.ts` exports as `row`: one merchant, wallet, receiver or queue makes noise, and what the others feel of it. */
export type Row = {
  name: string;
  /** The noise, and what must hold beside it, for people. */
  about: string;
  /** What the others felt of it at 6a54703, before anything held the noise back. */
  before: string;
  run(context: FaultContext): Promise<RowResult>;
};

type RowResult = {
  /** The same figures of this run, with the noise and without. */
  measured: string[];
  /** What did not hold, each in a sentence. */
  broken: string[];
};
