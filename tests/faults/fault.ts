/** What a file `<name>.fault.ts` exports as `fault`: something goes wrong on purpose, and what must hold is looked at. */
export type Fault = {
  name: string;
  /** What goes wrong, and what must hold, for people. */
  about: string;
  /** @throws when it could not be carried out; a broken promise of ours is a result. */
  run(context: FaultContext): Promise<FaultResult>;
};

export type FaultContext = {
  /** Decides everything that chance decides, so that the same number makes the same run. */
  seed: number;
  /** How much of it, in the fault's own unit; null for its usual amount. */
  runs: number | null;
  /** Where in an earlier run it failed, as that run's `repeat` said; null for a whole run. */
  path: string | null;
  /** The only row or part of a fault that has several; null for all. */
  part: string | null;
  /** The revision of an earlier version; null for the usual one. */
  from: string | null;
  say: (line: string) => void;
  /** Called after the fault, newest first, whether it succeeded or not. */
  onEnd: (close: () => Promise<void>) => void;
};

export type FaultResult = {
  /** What did not hold, each with all that is needed to understand it; none when everything held. */
  broken: string[];
  /** What was done and how often, so that an empty run is not mistaken for a good one. */
  lines: string[];
  /** The words after `npm run faults --` that do it again; those of the whole run when left out. */
  repeat?: string;
  /** Why nothing was done at all, where this machine cannot; then nothing held either. */
  skipped?: string;
};
